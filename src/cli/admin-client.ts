/** Calls the admin API. A failure says what to do about it. */
import type { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import type { Connection } from './connection.js';
import { CommandFailure, TooManyCalls } from './io.js';

/** Nothing listens at the address. */
export class NoServer extends CommandFailure {}

export interface AccountRow {
  id: string;
  email: string;
  name: string | null;
  status: string;
  billing_country: string | null;
  balance_usd: string;
  limits: { requests_per_minute: number | null; tokens_per_minute: number | null };
  operator: boolean;
  two_factor: boolean;
  created_at: string;
}

export interface ListOf<T> {
  data: T[];
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const defaultTimeoutMs = 30_000;
const streamTimeoutMs = 300_000;

export class AdminClient {
  constructor(private readonly connection: Connection) {}

  async call<T>(method: Method, path: string, body?: object, timeoutMs = defaultTimeoutMs): Promise<T> {
    const { statusCode: status, headers, body: answer } = await this.send(method, path, body, timeoutMs);
    const text = await answer.text();
    if (status < 300) return (text === '' ? undefined : JSON.parse(text)) as T;
    // The server refused it, or its store was too busy to read. What changes something may have been done.
    if (status === 429 || (status === 503 && method === 'GET'))
      throw new TooManyCalls(messageOf(text) ?? '', Number(headers['retry-after']) || 1);
    throw this.refusal(status, text);
  }

  /** The body as it comes. */
  async stream(path: string): Promise<Readable> {
    const { statusCode, body } = await this.send('GET', path, undefined, streamTimeoutMs);
    if (statusCode < 300) return body;
    throw this.refusal(statusCode, await body.text());
  }

  private refusal(status: number, text: string): CommandFailure {
    if (status === 401) return this.tokenRefused();
    return new CommandFailure(messageOf(text) ?? `${this.connection.url} answered ${status}.`);
  }

  private async send(
    method: Method,
    path: string,
    body: object | undefined,
    timeoutMs: number,
    isAgain = false,
  ): Promise<Dispatcher.ResponseData> {
    try {
      return await request(`${this.connection.url}/admin/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.connection.token}`,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      });
    } catch (error) {
      // The server closes connections that were idle. One that it has closed a moment ago looks open here.
      const isIdle = (error as NodeJS.ErrnoException).code === 'UND_ERR_SOCKET' && method === 'GET' && !isAgain;
      if (isIdle) return this.send(method, path, body, timeoutMs, true);
      throw this.unreachable(error as NodeJS.ErrnoException);
    }
  }

  private unreachable({ code, message }: NodeJS.ErrnoException): NoServer {
    return new NoServer(
      `No server answers at ${this.connection.url} (${code ?? message}). ` +
        'Start one with "npm start" or "lodestone serve", or name another with --url or LODESTONE_URL.',
    );
  }

  private tokenRefused(): CommandFailure {
    const { url, tokenSource } = this.connection;
    return new CommandFailure(
      `${url} refused the admin token from ${tokenSource}. The server's own is in its configuration (admin_token), ` +
        'in LODESTONE_ADMIN_TOKEN or in data_dir/admin-token; give it with --admin-token-file or LODESTONE_ADMIN_TOKEN.',
    );
  }

  accounts(): Promise<ListOf<AccountRow>> {
    return this.call('GET', '/accounts');
  }

  /** The account with this id or email address; without one, the only account. */
  async findAccount(named: string | undefined): Promise<AccountRow> {
    const { data } = await this.accounts();
    if (named === undefined) {
      if (data.length === 1) return data[0]!;
      const hint = data.length === 0 ? 'Create one with "lodestone account create".' : 'Choose one with --account.';
      throw new CommandFailure(`There are ${data.length} accounts. ${hint}`);
    }
    const found = data.find(({ id, email }) => id === named || email === named.toLowerCase());
    if (found) return found;
    throw new CommandFailure(`There is no account "${named}". "lodestone account list" shows them.`);
  }
}

function messageOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { error?: { message?: string } }).error?.message;
  } catch {
    return undefined;
  }
}
