/**
 * A provider that can be killed, so that connects to it are refused, and come back at the same address. It answers chats well
 * by default, and knows how many calls it has in hand.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Json } from '../support/client.js';
import { freePort } from '../support/free-port.js';
import { completion, frameText, streamOf } from '../support/scripted-upstream.js';

export interface ProviderRequest {
  model: string;
  stream: boolean;
  messages: { content: string }[];
}

/** Nine tokens in and three out, whole or streamed. */
export const answerText = 'One two three.';
const answerWords = ['One', ' two', ' three.'];

export class ProviderCall {
  readonly startedAt = performance.now();
  /** Resolves when the answer is out, or the line is gone. */
  readonly ended: Promise<void>;
  private end!: () => void;

  constructor(
    readonly request: ProviderRequest,
    private readonly response: ServerResponse,
  ) {
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
    response.once('close', this.end);
  }

  /** In one write, so that a kill finds an answer either given or not. */
  answer(): void {
    const { model, stream } = this.request;
    if (stream) {
      this.response.writeHead(200, { 'content-type': 'text/event-stream' });
      const frames = streamOf(answerWords, { model }).map(frameText);
      this.finish(() => this.response.end(`${frames.join('')}data: [DONE]\n\n`));
    } else this.json(200, completion({ model, content: answerText }));
  }

  json(status: number, body: Json, headers: Record<string, string> = {}): void {
    this.finish(() => this.response.writeHead(status, { 'content-type': 'application/json', ...headers }));
    this.response.end(JSON.stringify(body));
  }

  /** A head and the beginning of an answer without any content, then a RST. */
  breakOff(): void {
    const { model, stream } = this.request;
    const type = stream ? 'text/event-stream' : 'application/json';
    const text = stream ? frameText(streamOf([], { model })[0]) : JSON.stringify(completion({ model })).slice(0, 60);
    this.response.writeHead(200, { 'content-type': type });
    this.response.write(text, () => this.reset());
  }

  reset(): void {
    this.finish(() => this.response.socket?.resetAndDestroy());
  }

  private finish(act: () => void): void {
    // What has been answered is no longer in hand, also if the system tells of it only later.
    this.end();
    act();
  }
}

export class KillableProvider {
  private server = this.newServer();
  /** Calls that came since `watch`: all of them, those in hand now, and the most at once. */
  readonly seen = { calls: 0, inFlight: 0, inFlightMax: 0 };
  private watches = 0;
  behave: (call: ProviderCall) => void = (call) => call.answer();

  private constructor(private readonly port: number) {}

  static async start(): Promise<KillableProvider> {
    const provider = new KillableProvider(await freePort());
    await provider.revive();
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts to count again. */
  watch(): void {
    this.watches++;
    Object.assign(this.seen, { calls: 0, inFlight: 0, inFlightMax: 0 });
  }

  async kill(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  async revive(): Promise<void> {
    this.server = this.newServer();
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ port: this.port, host: '127.0.0.1', backlog: 1_024 }, resolve);
    });
  }

  private newServer() {
    return createServer((request, response) => void this.accept(request, response));
  }

  private async accept(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    try {
      for await (const piece of request) pieces.push(piece as Buffer);
    } catch {
      return; // Killed before the request was whole.
    }
    const call = new ProviderCall(JSON.parse(Buffer.concat(pieces).toString('utf8')), response);
    this.count(call);
    this.behave(call);
  }

  private count(call: ProviderCall): void {
    const { seen, watches } = this;
    seen.calls++;
    seen.inFlight++;
    seen.inFlightMax = Math.max(seen.inFlightMax, seen.inFlight);
    void call.ended.then(() => {
      if (watches === this.watches) seen.inFlight--;
    });
  }
}
