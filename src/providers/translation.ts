/** Both directions of a dialect: writes requests in it, and reads whole answers. Large ones go to threads, so that they delay nobody else. */

import { SideThread } from '../base/side-thread.js';
import type { MaybePromise } from '../base/turn.js';
import type { Route } from '../catalogue/route.js';
import { errorOfThread } from '../errors/gateway-error.js';
import { answerBounds, mainThreadBounds, parseAnswerBytes } from '../wire/answer-bounds.js';
import type { ChatRequest } from '../wire/chat-request.js';
import type { UsageTerms } from '../wire/usage-types.js';
import { ownMemory } from './detach-texts.js';
import type { Dialect, OutgoingCall, Target } from './dialects/dialect.js';
import { type CompletionReading, parseCompletion, readTranslation } from './dialects/openai/completion.js';
import { scanCompletion } from './dialects/openai/scan-completion.js';
import { dialectOf } from './dialects/registry.js';
import { nativeApiIn } from './native-pass.js';
import { readTaskAnswer, type TaskAnswerToRead, type TaskQuestion, type TaskReading } from './read-task-answer.js';
import type { RequestToWrite } from './request-thread.js';

/** Writes requests in a route's dialect. Large requests that need translation are written in a separate thread. */
export class RequestWriter {
  private readonly thread = new SideThread<RequestToWrite, OutgoingCall>(
    new URL('./request-thread.js', import.meta.url),
    { idleMs: 30_000, resourceLimits: { maxOldGenerationSizeMb: 2048 } },
  );

  /** Members that are bytes belong to a large request. A dialect that does not translate splices them without parsing. */
  write(request: ChatRequest, target: Target, dialectName: string): MaybePromise<OutgoingCall> {
    const dialect = dialectOf(dialectName);
    const isQuick = typeof request.members === 'string' || dialect.readAnswer === null;
    return isQuick ? dialect.callOf(request, target) : this.writeLarge(request, target, dialectName);
  }

  close(): Promise<void> {
    return this.thread.close();
  }

  /** The bytes are copied, not transferred: another route may need them if this one fails. */
  private async writeLarge(request: ChatRequest, target: Target, dialect: string): Promise<OutgoingCall> {
    // Its own body is for routes that speak its API.
    const { native: _, ...translated } = request;
    const { path, body } = await this.thread.run({ request: translated, target, dialect }).catch((error: unknown) => {
      throw errorOfThread(error) ?? error;
    });
    const { buffer, byteOffset, byteLength } = body as Uint8Array;
    return { path, body: Buffer.from(buffer, byteOffset, byteLength) };
  }
}

const targets = new WeakMap<Route, Target>();

/** The part of a route that its dialect may use, made once for each route. */
export function targetOf(route: Route): Target {
  const known = targets.get(route);
  if (known) return known;
  const { upstreamModel, baseUrl, streamUsage, maxOutputTokens, unsupportedParameters } = route;
  const target = { upstreamModel, baseUrl, streamUsage, maxOutputTokens, unsupportedParameters };
  targets.set(route, target);
  return target;
}

/** What the thread is given. */
export interface AnswerToRead {
  bytes: ArrayBuffer;
  dialect: string;
  terms: UsageTerms;
  /** The client speaks another API, in which the answer is written anew. */
  isRewritten: boolean;
}

/**
 * Splits a whole answer into the parts that the gateway needs. `format` is a dialect, or names the client's own API, whose answers are
 * kept whole. The usual ones of these are not parsed.
 */
export function readAnswer(body: Buffer, format: string, terms: UsageTerms): CompletionReading {
  const native = nativeApiIn(format);
  const scan = native ? native.scanAnswer : dialectOf(format).readAnswer === null ? scanCompletion : undefined;
  const parts = scan?.(body, terms);
  return parts ? { kind: 'completion', parts } : parseAnswer(body, format, terms);
}

export function parseAnswer(body: Buffer, format: string, terms: UsageTerms): CompletionReading {
  const native = nativeApiIn(format);
  if (native) return readTranslated(body, native.readAnswer, terms, true);
  const translate = dialectOf(format).readAnswer;
  return translate ? readTranslated(body, translate, terms) : parseCompletion(body, terms);
}

function readTranslated(
  body: Buffer,
  translate: NonNullable<Dialect['readAnswer']>,
  terms: UsageTerms,
  isPassed = false,
): CompletionReading {
  // What is passed on may have to be written again, with the gateway's members in it.
  const json = parseAnswerBytes(body, isPassed ? mainThreadBounds : answerBounds);
  if ('kind' in json) return json;
  const { value, text, encoding } = json;
  const answer = translate(value, encoding);
  if (answer.kind !== 'completion') return answer;
  const native = !isPassed ? undefined : encoding === 'latin1' ? text : body.toString('latin1');
  return readTranslation(answer.completion, { encoding, native }, terms);
}

const largeAnswerBytes = 256 * 1024;

/** Reads whole answers. Large ones are given to a separate thread, so that no upstream can delay other clients. */
export class AnswerReader {
  private readonly thread = new SideThread<AnswerToRead | TaskAnswerToRead, CompletionReading | TaskReading>(
    new URL('./answer-thread.js', import.meta.url),
    { idleMs: 2_000, resourceLimits: { maxOldGenerationSizeMb: 1024 } },
  );

  /** `isRewritten`: the client speaks another API, in which the answer is written anew. */
  read(body: Buffer, dialect: string, terms: UsageTerms, isRewritten = false): MaybePromise<CompletionReading> {
    if (body.length <= largeAnswerBytes) return readAnswer(body, dialect, terms);
    const { contextWindow, hiddenReasoning, price } = terms;
    const bytes = ownMemory(body);
    return this.run({ bytes, dialect, terms: { contextWindow, hiddenReasoning, price }, isRewritten });
  }

  /** Vectors are many numbers, so most answers with more than a few of them are read in the thread. */
  readTask(body: Buffer, question: TaskQuestion): MaybePromise<TaskReading> {
    if (body.length <= largeAnswerBytes) return readTaskAnswer(body, question);
    return this.run({ bytes: ownMemory(body), question });
  }

  close(): Promise<void> {
    return this.thread.close();
  }

  private async run<Reading extends CompletionReading | TaskReading>(
    answer: AnswerToRead | TaskAnswerToRead,
  ): Promise<Reading> {
    try {
      return (await this.thread.run(answer, [answer.bytes])) as Reading;
    } catch {
      return { kind: 'malformed', reason: 'its answer holds more values than can be read', excess: true } as Reading;
    }
  }
}
