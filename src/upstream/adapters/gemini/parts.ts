/** What a candidate says, taken apart: text, thoughts and calls. Parts of other kinds have no place in an answer of OpenAI's. */
import { timeOrderedId } from '../../../base/ids.js';
import type { TextEncoding } from '../../../wire/json-text.js';
import { type Fields, isFields } from '../messages/items.js';

export type SaidPart =
  | { kind: 'text' | 'thought'; text: string }
  /** `call` is OpenAI's tool call. */
  | { kind: 'call'; call: Fields };

export function saidParts(candidate: Fields): SaidPart[] {
  const parts = isFields(candidate.content) && Array.isArray(candidate.content.parts) ? candidate.content.parts : [];
  const said: SaidPart[] = [];
  for (const part of parts) {
    if (!isFields(part)) continue;
    if (isFields(part.functionCall)) said.push({ kind: 'call', call: toolCall(part.functionCall, part) });
    else if (typeof part.text === 'string' && part.text !== '') {
      said.push({ kind: part.thought === true ? 'thought' : 'text', text: part.text });
    }
  }
  return said;
}

/** Ids are not guaranteed; the signature goes where Google's own endpoint of OpenAI's dialect puts it. */
function toolCall({ id, name, args }: Fields, { thoughtSignature }: Fields): Fields {
  return {
    id: typeof id === 'string' && id !== '' ? id : `call_${timeOrderedId(Date.now())}`,
    type: 'function',
    function: { name: String(name), arguments: JSON.stringify(args ?? {}) },
    ...(typeof thoughtSignature === 'string' && {
      extra_content: { google: { thought_signature: thoughtSignature } },
    }),
  };
}

/** OpenAI's `logprobs` of a choice; null where there are none. */
export function logprobsOf(result: unknown, encoding: TextEncoding): Fields | null {
  if (!isFields(result) || !Array.isArray(result.chosenCandidates)) return null;
  const tops = Array.isArray(result.topCandidates) ? result.topCandidates : [];
  const content = result.chosenCandidates.map((chosen, at) => {
    const top = isFields(tops[at]) && Array.isArray(tops[at].candidates) ? tops[at].candidates : [];
    return { ...tokenOf(chosen, encoding), top_logprobs: top.map((each) => tokenOf(each, encoding)) };
  });
  return { content, refusal: null };
}

function tokenOf(candidate: unknown, encoding: TextEncoding): Fields {
  const { token, logProbability } = isFields(candidate) ? candidate : {};
  const text = typeof token === 'string' ? token : '';
  return { token: text, logprob: logProbability ?? 0, bytes: [...Buffer.from(text, encoding)] };
}
