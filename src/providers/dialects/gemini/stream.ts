/**
 * Translates the events of a stream to OpenAI chunks. Each event is a whole GenerateContentResponse with a piece of text, a call
 * or a piece of one, or the finish reason. All have usage, and the last one counts. There is no `[DONE]`.
 */
import { asLatin1, encodeLatin1, type Latin1Text } from '../../../base/latin1.js';
import { isCutOff } from '../../../wire/finish-reason.js';
import { roleChunk, usageChunk } from '../chat-parts/chunks.js';
import { type Fields, isFields } from '../chat-parts/conversation.js';
import { type ReadEvent, readEvent } from '../chat-parts/stream-event.js';
import type { EmitChunk, StreamTranslator } from '../dialect.js';
import { isError } from './answer.js';
import { type AnswerPart, CandidateParts, logprobsOf } from './parts.js';
import { PlainEvent } from './plain-event.js';
import { finishes, finishReasonOf, isBrokenCall, usageOf } from './usage.js';

type Write = ReadEvent['write'];

const learningsMax = 16;

interface Choice {
  parts: CandidateParts;
  toolCalls: number;
  /** The last part is a call without arguments: it may have been cut off. */
  unfilled: boolean;
  hasContent: boolean;
}

export class ContentStream implements StreamTranslator {
  private plain: PlainEvent | null = null;
  private learnings = 0;
  /** The last event whose text was copied without parsing: its usage counts where none follows. */
  private unparsed: Latin1Text | null = null;
  private readonly choices = new Map<number, Choice>();
  private usage: Fields | undefined;
  /** Whether a chunk has had `usage`. */
  private usageSent = true;

  onEvent(data: Latin1Text, _event: string, emit: EmitChunk): void {
    const inside = this.plain?.textIn(data) ?? null;
    if (inside !== null) {
      this.unparsed = data;
      if (inside !== '') emit(asLatin1(contentStart + inside + contentEnd));
      return;
    }
    const read = readEvent(data);
    // Anything else, above all an error, is for the relay to judge. What came before an error is billed.
    if (read === null || !isFields(read.value) || isError(read.value)) {
      this.onOver(emit);
      emit(data);
    } else this.parsedEvent(read.value, read, data, emit);
  }

  onEnd(): void {}

  onOver(emit: EmitChunk): void {
    this.noteUsage(undefined);
    if (!this.usageSent) emit(usageChunk(this.takeUsage()!));
  }

  private parsedEvent(event: Fields, read: ReadEvent, data: Latin1Text, emit: EmitChunk): void {
    this.noteUsage(event.usageMetadata);
    const candidates = Array.isArray(event.candidates) ? event.candidates.filter(isFields) : [];
    for (const candidate of candidates) this.candidate(candidate, event.modelVersion, read, emit);
    if (candidates.length === 1 && this.learnings < learningsMax) {
      const learnt = PlainEvent.learn(data, event);
      if (learnt) this.learnings++;
      this.plain = learnt ?? this.plain;
    }
  }

  private noteUsage(usageMetadata: unknown): void {
    const usage = usageOf(usageMetadata) ?? usageIn(this.unparsed);
    this.unparsed = null;
    if (!usage) return;
    this.usage = usage;
    this.usageSent = false;
  }

  /** As JSON text; undefined where there is none so far. */
  private takeUsage(): string | undefined {
    this.usageSent = true;
    return this.usage && JSON.stringify(this.usage);
  }

  private candidate(candidate: Fields, model: unknown, { write, encoding }: ReadEvent, emit: EmitChunk): void {
    const index = typeof candidate.index === 'number' ? candidate.index : 0;
    let choice = this.choices.get(index);
    if (!choice) {
      choice = { parts: new CandidateParts(), toolCalls: 0, unfilled: false, hasContent: false };
      this.choices.set(index, choice);
      // The prompt's figures count also where the stream breaks off.
      const first = roleChunk(typeof model === 'string' ? write(model) : undefined, this.takeUsage());
      emit(asLatin1(first.replace('"index":0', `"index":${index}`)));
    }
    const { logprobsResult, finishReason } = candidate;
    const probs = logprobsOf(logprobsResult, encoding);
    let logprobs = probs ? `,"logprobs":${write(probs)}` : '';
    const parts = choice.parts.read(candidate, encoding);
    const isOver = finishes(finishReason);
    if (isOver) parts.push(...choice.parts.finish(encoding, isCutOff(finishReasonOf(finishReason, false))));
    for (const part of parts) {
      choice.hasContent = true;
      // Something follows the call, so it was finished. For the last call the finish reason decides (src/wire/deltas.ts).
      if (choice.unfilled) emit(chunkOf(index, emptyArguments(choice.toolCalls - 1), '', 'null'));
      choice.unfilled = part.kind === 'call' && (part.call.function as Fields).arguments === '';
      emit(chunkOf(index, deltaOf(part, choice, write), logprobs, 'null'));
      logprobs = '';
    }
    // Text that follows the call must be parsed.
    if (choice.unfilled) this.plain = null;
    if (isOver) this.finish(finishReason, index, choice, logprobs, emit);
  }

  private finish(finishReason: string, index: number, choice: Choice, logprobs: string, emit: EmitChunk): void {
    if (!choice.hasContent && isBrokenCall(finishReason)) {
      emit(encodeLatin1(JSON.stringify({ error: { message: `its answer is empty (${finishReason})`, code: 500 } })));
      return;
    }
    const finish = JSON.stringify(finishReasonOf(finishReason, choice.toolCalls > 0));
    // The usage is sent along, because another event may not follow.
    const usage = this.takeUsage();
    const end = usage === undefined ? '' : `,"usage":${usage}`;
    emit(asLatin1(`${chunkOf(index, '', logprobs, finish).slice(0, -1)}${end}}`));
  }
}

function usageIn(data: Latin1Text | null): Fields | undefined {
  return data === null ? undefined : usageOf((readEvent(data)?.value as Fields | undefined)?.usageMetadata);
}

function deltaOf(part: AnswerPart, choice: Choice, write: Write): string {
  if (part.kind !== 'call') return `"${part.kind === 'text' ? 'content' : 'reasoning_content'}":${write(part.text)}`;
  return `"tool_calls":[${write({ index: choice.toolCalls++, ...part.call })}]`;
}

function emptyArguments(index: number): string {
  return `"tool_calls":[{"index":${index},"function":{"arguments":"{}"}}]`;
}

/** All arguments but `index` are JSON text: the members of the delta, a `logprobs` member or nothing, and the finish reason. The relay adds the rest. */
function chunkOf(index: number, delta: string, logprobs: string, finish: string): Latin1Text {
  return asLatin1(`{"choices":[{"index":${index},"delta":{${delta}}${logprobs},"finish_reason":${finish}}]}`);
}

/** The chunk around plain text. A short one, so that the relay has less to compare. */
const [contentStart = '', contentEnd = ''] = chunkOf(0, '"content":"|"', '', 'null').split('|');
