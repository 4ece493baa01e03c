/** Finds the tools of a request that a route may leave out of it, and where they are in its body. */
import type { NativeTools } from '../wire/chat-request.js';
import { findEntries, findMembers } from '../wire/json-members.js';
import { type Fields, isFields } from './body.js';

/**
 * `nameOf` is the name of a tool that may be left out, and undefined for one that may not. Undefined where there is none of the former, or
 * where the body is too unusual to find them in it.
 */
export function leavableTools(
  body: string,
  tools: unknown,
  nameOf: (tool: Fields) => string | undefined,
): NativeTools | undefined {
  if (!Array.isArray(tools)) return undefined;
  const names = tools.map((tool: unknown) => (isFields(tool) ? nameOf(tool) : undefined));
  if (names.every((name) => name === undefined)) return undefined;
  const members = findMembers(body);
  const at = members?.keys.indexOf('tools') ?? -1;
  if (members === null || at === -1) return undefined;
  const places = findEntries(body, members.valueStarts[at]!);
  if (places.length !== tools.length) return undefined;
  const entries = places.flatMap((place, index) => {
    const name = names[index];
    return name === undefined ? [] : [{ ...place, name }];
  });
  const { keys, starts, ends } = members;
  const choice = keys.indexOf('tool_choice');
  // The member with a comma beside it. It is not the only one.
  const span = choice === 0 ? { start: starts[0]!, end: starts[1]! } : { start: ends[choice - 1]!, end: ends[choice]! };
  return { entries, count: tools.length, ...(choice !== -1 && { choice: span }) };
}
