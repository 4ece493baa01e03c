/** What a candidate says, taken apart: text, thoughts and calls. Parts of other kinds have no place in an answer of OpenAI's. */
import type { TextEncoding } from '../../../wire/json-text.js';
import { argumentsOf, toolCallId } from '../chat-parts/completion.js';
import { type Fields, isFields } from '../chat-parts/items.js';
import { type CompleteCall, PartialCall } from './partial-call.js';

export type SaidPart =
  | { kind: 'text' | 'thought'; text: string }
  /** `call` is OpenAI's tool call. */
  | { kind: 'call'; call: Fields };

/** Reads the parts of one candidate, event by event: a call may come in pieces. */
export class CandidateParts {
  private pending: PartialCall | null = null;

  read(candidate: Fields, encoding: TextEncoding): SaidPart[] {
    const parts = isFields(candidate.content) && Array.isArray(candidate.content.parts) ? candidate.content.parts : [];
    const said: SaidPart[] = [];
    for (const part of parts) {
      if (!isFields(part)) continue;
      if (isFields(part.functionCall)) this.readCall(part.functionCall, part, encoding, said);
      else if (typeof part.text === 'string' && part.text !== '') {
        said.push({ kind: part.thought === true ? 'thought' : 'text', text: part.text });
      }
    }
    return said;
  }

  /** The candidate is over, and so is a call whose end was not announced. */
  finish(encoding: TextEncoding): SaidPart[] {
    const { pending } = this;
    this.pending = null;
    return pending === null ? [] : [callPart(pending.complete(encoding))];
  }

  /** A piece without a name belongs to the call before it; where there is none, it says nothing. */
  private readCall(call: Fields, { thoughtSignature }: Fields, encoding: TextEncoding, said: SaidPart[]): void {
    const { name } = call;
    const isNamed = typeof name === 'string' && name !== '';
    if (isNamed) {
      said.push(...this.finish(encoding));
      if (call.willContinue !== true && call.partialArgs === undefined) {
        const { id, args } = call;
        said.push(callPart({ id, name, arguments: argumentsOf(args), signature: thoughtSignature }));
        return;
      }
      this.pending = new PartialCall(name, encoding);
    }
    this.pending?.take(call, thoughtSignature, encoding);
    if (call.willContinue !== true) said.push(...this.finish(encoding));
  }
}

/** Ids are not guaranteed; the signature goes where Google's own endpoint of OpenAI's dialect puts it. */
function callPart({ id, name, arguments: text, signature }: CompleteCall): SaidPart {
  const call = {
    id: toolCallId(id),
    type: 'function',
    function: { name, arguments: text },
    ...(typeof signature === 'string' && { extra_content: { google: { thought_signature: signature } } }),
  };
  return { kind: 'call', call };
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
