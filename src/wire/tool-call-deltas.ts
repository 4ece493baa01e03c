/**
 * Tool calls of a stream as OpenAI's clients put them together: each piece with the index of its call, an id and a name once,
 * arguments as text. Servers of its dialect leave out the first, repeat the second and send an object for the third (wire 7).
 */
import type { Chunk } from './chunk.js';

interface ToolCall {
  index?: unknown;
  id?: unknown;
  type?: unknown;
  function?: { name?: unknown; arguments?: unknown } | null;
}

/** What was told of a choice's calls, by their index. */
type Told = Map<number, { id: string; name: unknown }>;

export class ToolCallDeltas {
  /** By the index of the choice. */
  private readonly told = new Map<number, Told>();

  tidy({ choices = [] }: Chunk): void {
    for (const { index = 0, delta } of choices) {
      if (!Array.isArray(delta?.tool_calls)) continue;
      const told: Told = this.told.get(index) ?? new Map();
      this.told.set(index, told);
      for (const call of delta.tool_calls as (ToolCall | null)[]) {
        if (call === null || typeof call !== 'object') continue;
        tellOnce(call, told);
        argumentsAsText(call);
      }
    }
  }
}

function tellOnce(call: ToolCall, told: Told): void {
  const id = typeof call.id === 'string' && call.id !== '' ? call.id : undefined;
  if (typeof call.index !== 'number') call.index = indexOf(id, told);
  if (id === undefined) return;
  const known = told.get(call.index as number);
  const name = call.function?.name;
  if (known?.id !== id) {
    told.set(call.index as number, { id, name });
    return;
  }
  delete call.id;
  delete call.type;
  if (known.name === name) delete call.function?.name;
  else known.name = name;
}

/** Without an id a piece belongs to the call before it. */
function indexOf(id: string | undefined, told: Told): number {
  if (id === undefined) return Math.max(told.size - 1, 0);
  for (const [index, known] of told) if (known.id === id) return index;
  return told.size;
}

/** True where it was not text; also of a whole completion's calls. */
export function argumentsAsText({ function: called }: ToolCall): boolean {
  const given = called?.arguments;
  if (given === null || typeof given !== 'object') return false;
  called!.arguments = JSON.stringify(given);
  return true;
}
