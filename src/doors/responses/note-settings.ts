/** Notes the members of a Responses request that no translation can keep. */
import type { Inexpressible, OptionalField } from '../../wire/chat-request.js';
import type { Fields } from '../body.js';

interface Notes {
  readonly inexpressible: Inexpressible[];
  readonly optional: OptionalField[];
}

/** Results of tools that run at the provider, which are left out too. */
const resultsOfTools = /^(?:web_search|file_search|code_interpreter|computer)_call/;
const logprobs = 'message.output_text.logprobs';
/** Kept where the route has it; an image of the request is in the request. */
const keptIncludes = new Set(['reasoning.encrypted_content', 'message.input_image.image_url']);

const unknownEntry = 'does not support an entry of `include`';

export function noteSettings(fields: Fields, { inexpressible, optional }: Notes): void {
  for (const entry of new Set((fields.include ?? []) as string[])) {
    if (resultsOfTools.test(entry)) optional.push({ name: `include.${entry}`, word: null });
    else if (entry === logprobs) inexpressible.push({ param: 'include' });
    else if (!keptIncludes.has(entry)) inexpressible.push({ param: 'include', reason: unknownEntry });
  }
  for (const [name, value] of members(fields.reasoning)) {
    if (name !== 'effort') optional.push({ name: `reasoning.${name}`, word: null });
    else if (value !== '') optional.push({ name: 'reasoning.effort', word: 'reasoning_effort' });
  }
  for (const [name] of members(fields.text)) {
    if (name === 'verbosity') optional.push({ name: 'text.verbosity', word: null });
    else if (name !== 'format') inexpressible.push({ param: `text.${name}` });
  }
  if (fields.max_tool_calls !== undefined) optional.push({ name: 'max_tool_calls', word: null });
}

/** A null value counts as absent. */
function members(holder: unknown): [name: string, value: unknown][] {
  return Object.entries((holder ?? {}) as Fields).filter(([, value]) => value !== null);
}
