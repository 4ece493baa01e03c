/** Reads the parts of a candidate: text, thoughts and calls. Other parts have no OpenAI equivalent and are left out. */
import type { TextEncoding } from '../../../wire/json-text.js';
import { argumentsOf, toolCallId } from '../chat-parts/completion.js';
import { type Fields, isFields } from '../chat-parts/conversation.js';
import { type CompleteCall, PartialCall } from './partial-call.js';

export type AnswerPart =
  | { kind: 'text' | 'thought'; text: string }
  /** `call` is OpenAI's tool call. */
  | { kind: 'call'; call: Fields };

/** Reads the parts of one candidate, event by event: a call may come in pieces. */
export class CandidateParts {
  private pending: PartialCall | null = null;

  read(candidate: Fields, encoding: TextEncoding): AnswerPart[] {
    const { content } = candidate;
    const given = isFields(content) && Array.isArray(content.parts) ? content.parts : [];
    const parts: AnswerPart[] = [];
    for (const part of given) {
      if (!isFields(part)) continue;
      if (isFields(part.functionCall)) this.readCall(part.functionCall, part, encoding, parts);
      else if (typeof part.text === 'string' && part.text !== '') {
        parts.push({ kind: part.thought === true ? 'thought' : 'text', text: part.text });
      }
    }
    return parts;
  }

  /** The candidate has ended, and with it a call whose end was not announced. `isCut`: the call was cut off. */
  finish(encoding: TextEncoding, isCut: boolean): AnswerPart[] {
    const { pending } = this;
    this.pending = null;
    return pending === null ? [] : [callPart(pending.complete(encoding, isCut))];
  }

  /** A piece without a name belongs to the previous call; without one it is ignored. */
  private readCall(call: Fields, { thoughtSignature }: Fields, encoding: TextEncoding, parts: AnswerPart[]): void {
    const { name } = call;
    const isNamed = typeof name === 'string' && name !== '';
    if (isNamed) {
      parts.push(...this.finish(encoding, false));
      if (call.willContinue !== true && call.partialArgs === undefined) {
        const { id, args } = call;
        parts.push(callPart({ id, name, arguments: argumentsOf(args), signature: thoughtSignature }));
        return;
      }
      this.pending = new PartialCall(name, encoding);
    }
    this.pending?.take(call, thoughtSignature, encoding);
    if (call.willContinue !== true) parts.push(...this.finish(encoding, false));
  }
}

/** Ids may be missing. The signature goes where Google's own OpenAI-compatible endpoint puts it. */
function callPart({ id, name, arguments: text, signature }: CompleteCall): AnswerPart {
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
