/** Names the tools that run in a container of the provider, as their prices are named. */
import { isFields } from './message.js';

type Fields = Record<string, unknown>;

/** The size of a container that is not asked for another one. */
const usualMemory = '1g';

/**
 * The name of such a tool; undefined for any other. Providers bill a container by its memory, so each size but the usual one has a
 * name of its own: `code_interpreter_4g`.
 */
export function containerTool({ type, container, environment }: Fields): string | undefined {
  if (type === 'code_interpreter') return `code_interpreter${memoryIn(container)}`;
  // The client runs a shell, unless it is given a container of the provider.
  if (type !== 'shell' || !isFields(environment) || environment.type === 'local') return undefined;
  return `hosted_shell${memoryIn(environment)}`;
}

function memoryIn(container: unknown): string {
  const memory = isFields(container) ? container.memory_limit : undefined;
  return memory === undefined || memory === null || memory === usualMemory ? '' : `_${String(memory)}`;
}
