/**
 * The events of a stream as OpenAI's chunks. Each is a whole GenerateContentResponse: a piece of text, a call or a piece of
 * one, the reason to finish; usage is in all of them, and the last one counts. There is no `[DONE]`.
 */

import { roleChunk, usageChunk } from '../chat-parts/chunks.js';
import { type Fields, isFields } from '../chat-parts/items.js';
import { type ReadEvent, readEvent } from '../chat-parts/json-string.js';
import type { StreamTranslator } from '../dialect.js';
import { isError } from './answer.js';
import { CandidateParts, logprobsOf, type SaidPart } from './parts.js';
import { PlainEvent } from './plain-event.js';
import { finishes, finishReasonOf, isBrokenCall, usageOf } from './usage.js';

type Emit = (chunk: string) => void;
type Write = ReadEvent['write'];

const learningsMax = 16;

interface Choice {
  parts: CandidateParts;
  toolCalls: number;
  /** It has said something. */
  said: boolean;
}

export class ContentStream implements StreamTranslator {
  private plain: PlainEvent | null = null;
  private learnings = 0;
  /** The last event whose text was taken without parsing it: its usage counts where none follows it. */
  private unparsed: string | null = null;
  private readonly choices = new Map<number, Choice>();
  private finished = false;
  private usage: Fields | undefined;
  private usageTold = true;

  onEvent(data: string, _event: string, emit: Emit): void {
    const inside = this.plain?.textIn(data) ?? null;
    if (inside !== null) {
      this.unparsed = data;
      if (inside !== '') emit(contentStart + inside + contentEnd);
      return;
    }
    const read = readEvent(data);
    // What is no event of an answer, an error above all, is for the relay to judge.
    if (read === null || !isFields(read.value) || isError(read.value)) emit(data);
    else this.parsedEvent(read.value, read, data, emit);
  }

  onEnd(emit: Emit): void {
    if (this.finished && !this.usageTold && this.usage) emit(usageChunk(JSON.stringify(this.usage)));
  }

  private parsedEvent(event: Fields, read: ReadEvent, data: string, emit: Emit): void {
    const usage = usageOf(event.usageMetadata) ?? usageIn(this.unparsed);
    this.unparsed = null;
    if (usage) {
      this.usage = usage;
      this.usageTold = false;
    }
    const candidates = Array.isArray(event.candidates) ? event.candidates.filter(isFields) : [];
    for (const candidate of candidates) this.candidate(candidate, event.modelVersion, read, emit);
    if (candidates.length === 1 && this.learnings < learningsMax) {
      const learnt = PlainEvent.learn(data, event);
      if (learnt) this.learnings++;
      this.plain = learnt ?? this.plain;
    }
  }

  private candidate(candidate: Fields, model: unknown, { write, encoding }: ReadEvent, emit: Emit): void {
    const index = typeof candidate.index === 'number' ? candidate.index : 0;
    let choice = this.choices.get(index);
    if (!choice) {
      choice = { parts: new CandidateParts(), toolCalls: 0, said: false };
      this.choices.set(index, choice);
      const first = roleChunk(typeof model === 'string' ? write(model) : undefined);
      emit(first.replace('"index":0', `"index":${index}`));
    }
    const { logprobsResult, finishReason } = candidate;
    const probs = logprobsOf(logprobsResult, encoding);
    let logprobs = probs ? `,"logprobs":${write(probs)}` : '';
    const said = choice.parts.read(candidate, encoding);
    const isOver = finishes(finishReason);
    if (isOver) said.push(...choice.parts.finish(encoding));
    for (const part of said) {
      choice.said = true;
      emit(chunkOf(index, deltaOf(part, choice, write), logprobs, 'null'));
      logprobs = '';
    }
    if (isOver) this.finish(finishReason, index, choice, logprobs, emit);
  }

  private finish(finishReason: string, index: number, choice: Choice, logprobs: string, emit: Emit): void {
    if (!choice.said && isBrokenCall(finishReason)) {
      emit(JSON.stringify({ error: { message: `its answer is empty (${finishReason})`, code: 500 } }));
      return;
    }
    this.finished = true;
    const finish = JSON.stringify(finishReasonOf(finishReason, choice.toolCalls > 0));
    // The usage rides along: nothing says whether another event follows.
    const usage = this.usage ? `,"usage":${JSON.stringify(this.usage)}` : '';
    this.usageTold = true;
    emit(`${chunkOf(index, '', logprobs, finish).slice(0, -1)}${usage}}`);
  }
}

function usageIn(data: string | null): Fields | undefined {
  return data === null ? undefined : usageOf((readEvent(data)?.value as Fields | undefined)?.usageMetadata);
}

function deltaOf(part: SaidPart, choice: Choice, write: Write): string {
  if (part.kind !== 'call') return `"${part.kind === 'text' ? 'content' : 'reasoning_content'}":${write(part.text)}`;
  return `"tool_calls":[${write({ index: choice.toolCalls++, ...part.call })}]`;
}

/** `delta` is members; `logprobs` a member or nothing; `finish` a value: all of them JSON text. The relay adds what is missing. */
function chunkOf(index: number, delta: string, logprobs: string, finish: string): string {
  return `{"choices":[{"index":${index},"delta":{${delta}}${logprobs},"finish_reason":${finish}}]}`;
}

/** The same of plain text: the shorter it is, the less the relay has to compare. */
const [contentStart = '', contentEnd = ''] = chunkOf(0, '"content":"|"', '', 'null').split('|');
