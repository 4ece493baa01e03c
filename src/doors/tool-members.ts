/** Notes the members of a function that a translation does not know: hints are left out, anything else cannot be expressed. */
import type { Inexpressible, OptionalField } from '../wire/chat-request.js';
import type { Fields } from './body.js';

export interface ToolNotes {
  readonly inexpressible: Inexpressible[];
  readonly optional: OptionalField[];
}

/** Members that save tokens or time, or help the model, and without which the function is the same. */
const hints = new Set(['defer_loading', 'eager_input_streaming', 'input_examples']);

export function noteMembers(tool: Fields, known: readonly string[], { inexpressible, optional }: ToolNotes): void {
  for (const [name, value] of Object.entries(tool)) {
    if (known.includes(name) || asksNothing(value)) continue;
    if (hints.has(name)) {
      const noted = `tools.${name}`;
      if (!optional.some((each) => each.name === noted)) optional.push({ name: noted, word: null });
    } else if (!isDirect(name, value)) {
      inexpressible.push({ param: 'tools', reason: `does not support \`${name}\` of a tool` });
    }
  }
}

function asksNothing(value: unknown): boolean {
  return value === null || value === false || (Array.isArray(value) && value.length === 0);
}

/** Calls by the model itself are the usual ones; a tool that only other tools may call has no translation. */
function isDirect(name: string, value: unknown): boolean {
  return name === 'allowed_callers' && Array.isArray(value) && value.includes('direct');
}
