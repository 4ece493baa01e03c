/**
 * Callers that come at a steady rate whatever becomes of those before them, every second one for a stream, and what each of
 * them got.
 */
import type { GatewayClient, Json, Reply, StreamReply } from '../support/client.js';
import { answerText } from './killable-provider.js';

export interface Caller {
  startedAt: number;
  endedAt: number;
  /** Who served; empty where nobody did. */
  provider: string;
  attempted: string[];
  generationId: string;
  /** What is wrong with the answer; empty where it is whole. */
  fault: string;
}

const tickMs = 4;

export class OpenLoop {
  readonly callers: Caller[] = [];
  /** Those without an answer so far, and since when. */
  private readonly waiting = new Map<Promise<void>, number>();
  private timer: NodeJS.Timeout | undefined;
  private sent = 0;
  private startedAt = 0;

  constructor(
    private readonly gateway: GatewayClient,
    private readonly key: string,
    private readonly model: string,
    private readonly requestsPerSecond: number,
  ) {}

  start(): void {
    this.startedAt = performance.now();
    this.timer = setInterval(() => this.tick(), tickMs);
  }

  /** No more callers; resolves when the last has its answer. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.waiting.keys());
    this.callers.sort((a, b) => a.startedAt - b.startedAt);
  }

  get callersPerSecond(): number {
    const last = this.callers.at(-1);
    return last ? (1000 * this.callers.length) / (last.startedAt - this.startedAt) : 0;
  }

  /** Of those who came since a moment, less those who had to go on to a second provider; they may still be waiting. */
  slowestMs(since: number): number {
    const direct = this.callers.filter(({ startedAt, attempted }) => startedAt >= since && attempted.length < 2);
    const oldest = [...this.waiting.values()].reduce((earliest, at) => Math.min(earliest, at), performance.now());
    return direct.reduce(
      (slowest, { startedAt, endedAt }) => Math.max(slowest, endedAt - startedAt),
      performance.now() - oldest,
    );
  }

  private tick(): void {
    const due = ((performance.now() - this.startedAt) / 1000) * this.requestsPerSecond;
    for (; this.sent < due; this.sent++) {
      const caller = this.call(this.sent % 2 === 1).then(() => void this.waiting.delete(caller));
      this.waiting.set(caller, performance.now());
    }
  }

  private async call(stream: boolean): Promise<void> {
    const { gateway, key } = this;
    const body = { model: this.model, messages: [{ role: 'user', content: 'Count to three.' }] };
    const startedAt = performance.now();
    const got = await (stream
      ? gateway.stream(body, { key }).then(ofStream)
      : gateway.chat(body, { key }).then(ofReply)
    )
      // A connection to the gateway that breaks is an answer that was not given.
      .catch((error) => ({ ...nothing, fault: String(error) }));
    this.callers.push({ startedAt, endedAt: performance.now(), ...got });
  }
}

type Got = Omit<Caller, 'startedAt' | 'endedAt'>;

const nothing: Got = { provider: '', attempted: [], generationId: '', fault: '' };

interface Metadata {
  provider: string;
  providers_attempted: string[];
  stream_end?: string;
}

function ofReply({ status, text, json, headers }: Reply): Got {
  if (status !== 200) return { ...nothing, fault: `${status}: ${text}` };
  const whole = json.choices[0].message.content === answerText;
  return got(json.router_metadata, headers, whole ? '' : text);
}

function ofStream({ status, text, frames, content, done, complete, headers }: StreamReply): Got {
  if (status !== 200) return { ...nothing, fault: `${status}: ${text}` };
  const metadata = frames
    .map(({ json }) => (json as Json | undefined)?.router_metadata as Metadata | undefined)
    .findLast((found) => found !== undefined);
  const whole = content === answerText && done && complete && metadata?.stream_end === 'complete';
  return got(metadata, headers, whole ? '' : text);
}

function got(metadata: Metadata | undefined, headers: Reply['headers'], fault: string): Got {
  return {
    provider: metadata?.provider ?? '',
    attempted: metadata?.providers_attempted ?? [],
    generationId: String(headers['x-generation-id']),
    fault,
  };
}
