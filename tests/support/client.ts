/** A caller of a test gateway: the admin API, chat completions whole and streamed, with times to the millisecond. */
import { Agent, request } from 'undici';
import { adminToken } from './gateway-files.js';
import { registerSecret, searchError } from './secrets.js';
import { type SseFrame, SseReader } from './sse.js';

export type Json = Record<string, unknown>;
type ResponseHeaders = Record<string, string | string[] | undefined>;

export interface Reply {
  status: number;
  headers: ResponseHeaders;
  text: string;
  /** The parsed body; an empty object where it is none, so that a test can look into it. */
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on shapes that only the answer itself knows.
  json: any;
}

export interface StreamReply extends Reply {
  frames: SseFrame[];
  /** The `delta.content` of all frames. */
  content: string;
  /** The last frame is `data: [DONE]`. */
  done: boolean;
  /** Bytes after the last complete frame. */
  remainder: string;
  /** The response ended as HTTP wants it to. */
  complete: boolean;
  headMs: number;
  firstFrameMs: number | null;
  endMs: number;
}

export interface CallOptions {
  /** A token; without it one of a default account with credit is used; null sends none. */
  key?: string | null;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  path?: string;
}

export interface StreamCallOptions extends CallOptions {
  /** Hang up after this many frames. */
  hangUpAfter?: number;
}

export interface TestAccount {
  accountId: string;
  /** The key's token. */
  key: string;
  keyId: string;
}

export class GatewayClient {
  private readonly agent = new Agent({ connections: 512, headersTimeout: 0, bodyTimeout: 0 });
  private defaultAccount: Promise<TestAccount> | undefined;
  private accountCount = 0;
  /** How many requests were sent. */
  sentCount = 0;

  constructor(private readonly baseUrl: () => string) {}

  /** Any request; a body that is no string is sent as JSON. */
  async call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Reply> {
    const response = await request(this.baseUrl() + path, {
      method: method as 'GET',
      headers: await this.headers(options, body !== undefined),
      body: bodyOf(body),
      signal: options.signal ?? null,
      dispatcher: this.agent,
    });
    const text = await response.body.text();
    const reply = { status: response.statusCode, headers: response.headers, text, json: jsonOf(text) as Reply['json'] };
    registerSecret('the token of a key', reply.json?.token);
    const { secret } = (body ?? {}) as { secret?: Json };
    for (const part of Object.values(secret ?? {})) registerSecret('a credential of a customer', part);
    if (reply.status >= 400) searchError(`the answer of ${method} ${path}`, text);
    return reply;
  }

  admin(method: string, path: string, body?: unknown): Promise<Reply> {
    const full = path.startsWith('/admin') ? path : `/admin/v1${path}`;
    return this.call(method, full, body, { key: adminToken });
  }

  /** An account with credit (10 USD by default) and one key that never expires. */
  async createAccount({
    credit = '10.00',
    name = 'test',
  }: {
    credit?: string | null;
    name?: string;
  } = {}): Promise<TestAccount> {
    const email = `caller-${++this.accountCount}-${Math.random().toString(36).slice(2)}@example.test`;
    const account = expectStatus(201, await this.admin('POST', '/accounts', { email }));
    const accountId = account.json.id as string;
    if (credit !== null) {
      expectStatus(201, await this.admin('POST', `/accounts/${accountId}/credits`, { amount_usd: credit }));
    }
    const key = expectStatus(201, await this.admin('POST', `/accounts/${accountId}/keys`, { name, expires: 'never' }));
    return { accountId, key: key.json.token as string, keyId: key.json.id as string };
  }

  chat(body: unknown, options: CallOptions = {}): Promise<Reply> {
    return this.call('POST', options.path ?? '/v1/chat/completions', body, options);
  }

  /** A chat with `stream: true`; an error answer has no frames and its body in `json`. */
  async stream(body: Json, options: StreamCallOptions = {}): Promise<StreamReply> {
    const headers = await this.headers(options, true);
    const startedAt = performance.now();
    const since = () => performance.now() - startedAt;
    const response = await request(this.baseUrl() + (options.path ?? '/v1/chat/completions'), {
      method: 'POST',
      headers,
      body: JSON.stringify({ stream: true, ...body }),
      signal: options.signal ?? null,
      dispatcher: this.agent,
    });
    const headMs = since();
    const reader = new SseReader();
    const pieces: Buffer[] = [];
    const complete = await readBody(response.body, pieces, reader, options.hangUpAfter);
    const text = Buffer.concat(pieces).toString('utf8');
    const first = reader.frames[0];
    if (response.statusCode >= 400) searchError('the answer of a stream', text);
    return {
      status: response.statusCode,
      headers: response.headers,
      text,
      json: jsonOf(text),
      frames: reader.frames,
      content: contentOf(reader.frames),
      done: reader.done,
      remainder: reader.remainder,
      complete,
      headMs,
      firstFrameMs: first ? first.at - startedAt : null,
      endMs: since(),
    };
  }

  /** Entries, newest first; without a limit as many as the gateway lists at once. */
  async ledger(accountId: string, limit?: number): Promise<Json[]> {
    const page = limit === undefined ? '' : `?limit=${limit}`;
    const reply = expectStatus(200, await this.admin('GET', `/accounts/${accountId}/ledger${page}`));
    return reply.json.data as Json[];
  }

  /** The exact decimal text. */
  async balance(accountId: string): Promise<string> {
    return expectStatus(200, await this.admin('GET', `/accounts/${accountId}`)).json.balance_usd as string;
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private async headers(options: CallOptions, hasBody: boolean): Promise<Record<string, string>> {
    const key = options.key === undefined ? (await this.account()).key : options.key;
    this.sentCount++;
    return {
      ...(hasBody && { 'content-type': 'application/json' }),
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...options.headers,
    };
  }

  /** The default account, made when it is first needed. */
  account(): Promise<TestAccount> {
    this.defaultAccount ??= this.createAccount({ credit: '100.00', name: 'default' });
    return this.defaultAccount;
  }
}

function expectStatus(status: number, reply: Reply): Reply {
  if (reply.status !== status) throw new Error(`Expected ${status}, got ${reply.status}: ${reply.text.slice(0, 500)}`);
  return reply;
}

function bodyOf(body: unknown): string | Uint8Array | null {
  if (body === undefined) return null;
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
}

type BodyStream = AsyncIterable<Buffer> & { destroy(): void };

/** False where the body was cut, by either side. */
async function readBody(
  body: BodyStream,
  pieces: Buffer[],
  reader: SseReader,
  hangUpAfter = Infinity,
): Promise<boolean> {
  try {
    for await (const piece of body) {
      pieces.push(piece);
      reader.push(piece);
      if (reader.frames.length >= hangUpAfter) {
        body.destroy();
        return false;
      }
    }
    return true;
  } catch {
    return false;
  }
}

interface ChunkShape {
  choices?: { delta?: { content?: string | null } }[];
}

function contentOf(frames: SseFrame[]): string {
  return frames.map((frame) => (frame.json as ChunkShape | undefined)?.choices?.[0]?.delta?.content ?? '').join('');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
