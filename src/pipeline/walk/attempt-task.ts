/**
 * One attempt at a request that is no chat. A provider may take fewer inputs in a call than the request has, so an attempt is one or
 * more calls on one route, whose answers are put together in order. The first call that fails fails the attempt, and stops the others.
 */
import { asLatin1 } from '../../base/latin1.js';
import { isPending, type MaybePromise } from '../../base/turn.js';
import { answeredModelFault } from '../../billing/pricing.js';
import type { Route } from '../../catalogue/route.js';
import type { AttemptRecord } from '../../domain/generation.js';
import { type Budgets, Call } from '../../providers/call.js';
import { failureOf, innerError, noAnswer, oversizedFailure } from '../../providers/call-failure.js';
import type { CallResult } from '../../providers/call-result.js';
import type { OutgoingCall } from '../../providers/dialects/dialect.js';
import { dialectOf } from '../../providers/dialects/registry.js';
import type { GivenAnswer, TaskQuestion } from '../../providers/read-task-answer.js';
import { targetOf } from '../../providers/translation.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import { type EmbeddingTask, resultsWanted } from '../../wire/task.js';
import { readUsage } from '../../wire/usage.js';
import type { Caller } from '../caller.js';
import type { Served } from '../handover.js';
import { type Attempt, type AttemptPorts, readFailure } from './attempt.js';
import { type AttemptOutcome, beginRecord, note, pricingFault, type UnreadOutcome } from './attempt-record.js';
import { sentTask } from './task-obstacle.js';
import { waitForCredentials } from './wait-for-credentials.js';

/** How many calls of one request run at a time. */
const callsAtOnce = 4;
/** A number of a vector takes at most about this many bytes of an answer. */
const bytesPerNumber = 24;
/** The same in base64: four thirds of four bytes, and quotes. */
const base64BytesPerNumber = 6;
/** Of one answer with vectors. 2,048 vectors of 1,536 numbers, the most that common models give, have room in it. */
const vectorBytesMax = 96 * 1024 * 1024;

/** A call for a part of the request. */
interface Part {
  readonly outgoing: OutgoingCall;
  readonly question: TaskQuestion;
}

export async function attemptTask(ports: AttemptPorts, attempt: Attempt): Promise<AttemptOutcome> {
  const { exchange, route } = attempt;
  const record = beginRecord(exchange, route);
  const startedAtMs = ports.clock.monotonicMs();
  exchange.trail.dispatchedAtMs = startedAtMs;
  const run = new TaskRun(ports, attempt, record, startedAtMs);
  try {
    exchange.caller.onGone = run.leave;
    if (exchange.caller.gone) run.leave();
    return await run.callAll(partsOf(exchange.request, route));
  } finally {
    exchange.caller.onGone = null;
    exchange.trail.upstreamMs += ports.clock.monotonicMs() - startedAtMs;
  }
}

function partsOf({ task, encoding }: Pick<ChatRequest, 'task' | 'encoding'>, route: Route): Part[] {
  const sent = sentTask(route, task!);
  const target = targetOf(route);
  const { dialect } = route.provider;
  const { embedding, rerank } = dialectOf(dialect);
  if (sent.kind === 'rerank') {
    const question = {
      dialect,
      kind: sent.kind,
      count: sent.documents.length,
      atLeast: resultsWanted(sent),
      dimensions: null,
      format: 'float',
    } as const;
    return [{ outgoing: rerank!.callOf(sent, encoding, target), question }];
  }
  const { kind, inputs, format } = sent;
  const dimensions = task!.kind === 'embedding' ? (task!.dimensions ?? null) : null;
  const size = batchSize(sent, route);
  const parts: Part[] = [];
  for (let from = 0; from < inputs.length; from += size) {
    const batch = inputs.slice(from, from + size);
    const outgoing = embedding!.callOf({ task: sent, inputs: batch, encoding }, target);
    parts.push({ outgoing, question: { dialect, kind, count: batch.length, dimensions, format } });
  }
  return parts;
}

/** As many inputs as the provider takes, but no more than an answer of the largest size is known to have vectors for. */
function batchSize(task: EmbeddingTask, route: Route): number {
  const target = targetOf(route);
  const embedding = dialectOf(route.provider.dialect).embedding!;
  const { maxBatch = embedding.inputsMax(target), model } = route;
  const numbers = task.dimensions ?? model.dimensions;
  if (numbers === undefined || numbers === null) return maxBatch;
  const bytes = numbers * (embedding.givesBase64?.(task, target) ? base64BytesPerNumber : bytesPerNumber);
  return Math.max(1, Math.min(maxBatch, Math.floor(vectorBytesMax / bytes)));
}

type ObtainedCredentials = Promise<Awaited<ReturnType<typeof waitForCredentials>>>;
type NotServed = Exclude<AttemptOutcome, Served>;
type PartOutcome = { kind: 'part'; answer: GivenAnswer } | NotServed;

class TaskRun {
  private readonly running = new Set<Call>();
  /** Waits for credentials. Each has a caller of its own, because one caller has one listener. */
  private readonly waiting = new Set<Pick<Caller, 'gone' | 'onGone'>>();
  /** Why the attempt ended: the first part that was not answered. Nothing is sent or recorded from then on. */
  private ended: NotServed | null = null;
  private next = 0;

  constructor(
    private readonly ports: AttemptPorts,
    private readonly attempt: Attempt,
    private readonly record: AttemptRecord,
    private readonly startedAtMs: number,
  ) {}

  /** The first part goes alone: where it fails, as it would with wrong credentials, nothing else is sent. */
  async callAll(parts: readonly Part[]): Promise<AttemptOutcome> {
    const answers: GivenAnswer[] = [];
    const work = async (count: number): Promise<void> => {
      while (this.ended === null && this.next < count) {
        const at = this.next++;
        const outcome = await this.callPart(parts[at]!);
        if (outcome.kind === 'part') answers[at] = outcome.answer;
      }
    };
    try {
      await work(1);
      await Promise.all(Array.from({ length: callsAtOnce }, () => work(parts.length)));
    } catch (error) {
      // The other workers go on until they see that the attempt has ended.
      this.leave();
      throw error;
    }
    return this.ended ?? this.served(answers);
  }

  /** The caller left. */
  readonly leave = (): void => {
    this.stop({ kind: 'gone' }, { kind: 'gone' });
  };

  /** Ends the attempt, unless it has ended already: then the first reason stands. */
  private stop(outcome: NotServed, result: CallResult): NotServed {
    if (this.ended) return this.ended;
    this.ended = outcome;
    note(this.record, outcome, result);
    for (const call of this.running) call.abandon();
    for (const waiter of this.waiting) waiter.onGone?.();
    return outcome;
  }

  private async callPart({ outgoing, question }: Part): Promise<PartOutcome> {
    const { ports, attempt } = this;
    const { exchange, route } = attempt;
    const { path, body } = outgoing;
    const credentials = await this.obtainCredentials(ports.credentials.headersFor(route, path, body, attempt.key));
    if (this.ended) return this.ended;
    if ('kind' in credentials) return this.stop(credentials, { kind: 'gone' });
    const { result, call } = await this.send(outgoing, credentials);
    const { firstByteAtMs } = call;
    if (firstByteAtMs !== null) this.record.first_byte_ms ??= Math.round(firstByteAtMs - this.startedAtMs);
    if (this.ended) return this.ended;
    const unread = await this.read(result, question, call);
    if (this.ended) return this.ended;
    if (unread.kind === 'part') {
      note(this.record, { kind: 'answer', parts: noParts }, result);
      return unread;
    }
    const sent = { request: exchange.request, body };
    const outcome = (await readFailure(ports, unread, sent, route)) as NotServed;
    return this.stop(outcome, result);
  }

  private async obtainCredentials(headers: MaybePromise<readonly string[]>): ObtainedCredentials {
    if (!isPending(headers)) return { headers, budgets: this.budgetsLeft() };
    const { exchange, route } = this.attempt;
    const caller: Pick<Caller, 'gone' | 'onGone'> = { gone: exchange.caller.gone, onGone: null };
    this.waiting.add(caller);
    try {
      const waiting = { exchange: { caller }, route, budgets: this.budgetsLeft() };
      return await waitForCredentials(this.ports, waiting, headers);
    } finally {
      this.waiting.delete(caller);
    }
  }

  /** All calls together have the budget of one attempt. */
  private budgetsLeft(): Budgets {
    const { budgets } = this.attempt;
    const spentMs = this.ports.clock.monotonicMs() - this.startedAtMs;
    return { ...budgets, overallMs: Math.max(0, budgets.overallMs - spentMs) };
  }

  private send(
    { path, body }: OutgoingCall,
    { headers, budgets }: { headers: readonly string[]; budgets: Budgets },
  ): Promise<{ result: CallResult; call: Call }> {
    const { transportOf, deadlines, clock } = this.ports;
    const { exchange, route } = this.attempt;
    const answerBytes = exchange.request.task!.kind === 'embedding' ? { answerBytes: vectorBytesMax } : {};
    return new Promise((resolve) => {
      const call = new Call(
        { transport: transportOf(route), deadlines, clock },
        { route, path, body, stream: false, headers, ...answerBytes },
        budgets,
        null,
        (result, ended) => {
          this.running.delete(ended);
          resolve({ result, call: ended });
        },
      );
      this.running.add(call);
    });
  }

  private async read(
    result: CallResult,
    question: TaskQuestion,
    call: Call,
  ): Promise<{ kind: 'part'; answer: GivenAnswer } | Exclude<UnreadOutcome, Served>> {
    const { exchange, route } = this.attempt;
    if (result.kind === 'gone') return { kind: 'gone' };
    if (result.kind === 'stream' || result.kind === 'frame_failed')
      throw new Error('A call without frames has a stream.');
    if (result.kind !== 'answer') {
      return { kind: 'failure', failure: failureOf(result, route, this.ports.clock.now(), exchange.request) };
    }
    const { status, body } = result;
    const reading = await this.ports.answers.readTask(body, question);
    if (reading.kind === 'error') return { kind: 'failure', failure: innerError(status, reading.error, route) };
    if (reading.kind === 'malformed') {
      const { reason, excess } = reading;
      if (excess) return { kind: 'failure', failure: oversizedFailure(status, reason, exchange.request) };
      const failure = noAnswer(status, reason, body, route);
      return { kind: 'failure', failure: reading.asked ? { ...failure, disputed: true } : failure };
    }
    const answer = withHeaderTokens(reading.answer, question, call);
    const fault = figureFault(answer, route) ?? answeredModelFault(exchange.snapshot, route, answer.model);
    return fault ? { kind: 'failure', failure: pricingFault(status, fault) } : { kind: 'part', answer };
  }

  private served(answers: readonly GivenAnswer[]): Served {
    const { encoding } = this.attempt.exchange.request;
    const counts = answers.map(({ tokens }) => tokens);
    const isCounted = counts.every((count) => typeof count === 'number');
    const task = {
      vectors: answers.flatMap(({ vectors }) => vectors),
      relevances: answers.flatMap(({ relevances }) => relevances),
      tokens: isCounted ? (counts as number[]).reduce((sum, count) => sum + count, 0) : null,
      // The client made one request, in however many calls it went out.
      requests: (answers[0]!.requests as number | null) ?? 1,
    };
    return { kind: 'answer', parts: { ...noParts, encoding, answeredModel: answers[0]!.model, task } };
  }
}

/** What a completion would have, and the answer to a task has not. */
const noParts = {
  members: '',
  encoding: 'latin1' as const,
  usage: undefined,
  reading: { kind: 'absent' as const },
  usageText: undefined,
  answeredModel: undefined,
  finishReason: null,
  delivered: asLatin1(''),
};

function withHeaderTokens(answer: GivenAnswer, { dialect, kind }: TaskQuestion, call: Call): GivenAnswer {
  const name = kind === 'embedding' ? dialectOf(dialect).embedding!.tokensHeader : undefined;
  const written = name === undefined || answer.tokens !== null ? undefined : call.head?.header(name);
  return written === undefined || !/^\d{1,9}$/.test(written) ? answer : { ...answer, tokens: Number(written) };
}

/** A figure that cannot be billed; undefined where all can. */
function figureFault({ tokens, requests }: GivenAnswer, { price }: Route): string | undefined {
  const usage = { prompt_tokens: tokens, completion_tokens: 0 };
  const reading = tokens === null ? null : readUsage(usage, { contextWindow: null, price });
  if (reading?.kind === 'fault') return reading.reason;
  if (requests === null || (Number.isSafeInteger(requests) && (requests as number) >= 0)) return undefined;
  return `its usage has ${JSON.stringify(requests)} searches`;
}
