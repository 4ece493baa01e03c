/** Where a round of tool calls is open: the model called, and the last turn has the results that it goes on with. */
import type { ReasoningItem, Turn } from './items.js';

/** True where such a round began without any reasoning that the provider takes back. Rounds that are over do not count. */
export function beganWithoutReasoning(turns: readonly Turn[], isTaken: (item: ReasoningItem) => boolean): boolean {
  const first = firstOfOpenRound(turns);
  return first !== null && !first.items.some((item) => item.kind === 'reasoning' && isTaken(item));
}

/** The assistant's turn that the open round began with; null where none is open. */
function firstOfOpenRound(turns: readonly Turn[]): Turn | null {
  let first: Turn | null = null;
  for (let at = turns.length - 1; at > 0; at -= 2) {
    if (!turns[at]!.items.some(({ kind }) => kind === 'tool_result')) break;
    first = turns[at - 1]!;
  }
  return first;
}
