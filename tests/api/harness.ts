/** Shared by the black-box tests: a gateway in front of scripted upstreams, and checks for every refusal. */
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { Json, Reply, TestAccount } from '../support/client.js';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.js';
import type { YamlObject } from '../support/gateway-files.js';
import { type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { registerPrompt } from '../support/secrets.js';
import { chatCatalogue } from './catalogue.js';

export interface Bench {
  gateway: TestGateway;
  upstream: ScriptedUpstream;
}

export interface BenchOptions extends Omit<TestGatewayOptions, 'catalogue'> {
  /** Added to those of the chat catalogue. */
  models?: YamlObject[];
}

/** One gateway a file, before one upstream that forgets its calls and scripts before each test. */
export function useGateway({ models, ...options }: BenchOptions = {}): Bench {
  const bench = {} as Bench;
  beforeAll(async () => {
    bench.upstream = await startUpstream();
    bench.gateway = await startGateway({ ...options, catalogue: chatCatalogue(bench.upstream.url, models) });
  });
  beforeEach(() => bench.upstream.reset());
  afterAll(async () => {
    await bench.gateway?.stop();
    await bench.upstream?.stop();
  });
  return bench;
}

export const llama = 'acme/meta/llama/defra';
export const messages = [{ role: 'user', content: 'Say hello.' }];
registerPrompt(messages[0]!.content);
export const ask = (more: Json = {}): Json => ({ model: llama, messages, ...more });

/** The expected error answer, field by field. */
export interface ErrorRow {
  status: number;
  type: string;
  /** Absent: the error has none. */
  code?: string;
  /** Absent: the error has none. */
  param?: string;
  /** What the message must say. */
  says?: readonly (string | RegExp)[];
  /** Only on the rows that list it. */
  retryAfter?: string;
}

export const badRequest = (param?: string, ...says: (string | RegExp)[]): ErrorRow => ({
  status: 400,
  type: 'invalid_request_error',
  code: 'invalid_request_error',
  ...(param !== undefined && { param }),
  says,
});

type AnyReply = Pick<Reply, 'status' | 'headers' | 'json'>;

export function expectError(reply: AnyReply, row: ErrorRow): void {
  const { error } = reply.json as { error: Record<string, string> };
  expect({ status: reply.status, type: error?.type, code: error?.code, param: error?.param }, error?.message).toEqual({
    status: row.status,
    type: row.type,
    code: row.code,
    param: row.param,
  });
  expect(Object.keys(reply.json)).toEqual(['error']);
  const members = ['type', 'message', ...(row.code ? ['code'] : []), ...(row.param ? ['param'] : [])];
  expect(Object.keys(error!).sort()).toEqual(members.sort());
  for (const text of row.says ?? []) expect(error!.message).toMatch(text instanceof RegExp ? text : literally(text));
  expect(reply.headers['content-type']).toMatch(/^application\/json/);
  expect(reply.headers['x-request-id']).toMatch(/^req-[0-9a-z]{26}$/);
  expect(reply.headers['retry-after'], 'Retry-After, only where the row lists it').toBe(row.retryAfter);
  expect(reply.headers['x-generation-id'], 'only a 2xx has a generation id').toBeUndefined();
}

function literally(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
}

interface Books {
  balance: string;
  /** An entry is only ever added, so the newest speaks for all of them. */
  newestEntry: Json | undefined;
  /** Ids of the usage history, newest first: as many as a check may add, and one more. */
  records: string[];
}

/** What the last check of a gateway found after its call. It holds for the next check as long as no request was sent in between. */
const lastFound = new WeakMap<TestGateway, { accountId: string; sentCount: number; books: Books }>();

/** Runs one call and holds the ledger, the balance, the history and the upstream against what they were before. */
export async function expectNothingSpent(
  { gateway, upstream }: Bench,
  account: TestAccount,
  act: () => Promise<AnyReply>,
  expected: { upstreamCalls?: number; records?: number } = {},
): Promise<AnyReply> {
  const { accountId } = account;
  const last = lastFound.get(gateway);
  const holds = last?.accountId === accountId && last.sentCount === gateway.sentCount;
  const before = holds ? last.books : await booksOf(gateway, account);
  const calls = upstream.calls.length;
  const reply = await act();
  const after = await booksOf(gateway, account, (expected.records ?? 0) + 1);
  lastFound.set(gateway, { accountId, sentCount: gateway.sentCount, books: after });
  expect(after.newestEntry).toEqual(before.newestEntry);
  expect(after.balance).toBe(before.balance);
  const known = before.records[0] === undefined ? -1 : after.records.indexOf(before.records[0]);
  expect(known < 0 ? after.records.length : known, 'new records of the usage history').toBe(expected.records ?? 0);
  expect(upstream.calls.length - calls, 'calls of the upstream').toBe(expected.upstreamCalls ?? 0);
  return reply;
}

async function booksOf(gateway: TestGateway, { accountId, key }: TestAccount, recordCount = 1): Promise<Books> {
  const balance = await gateway.balance(accountId);
  const [newestEntry] = await gateway.ledger(accountId, 1);
  // An account that is suspended or without a good key cannot ask; its history is then not compared.
  const history = await gateway.call('GET', `/v1/generations?limit=${recordCount}`, undefined, { key });
  const records = history.status === 200 ? history.json.data.map(({ id }: Json) => id as string) : [];
  return { balance, newestEntry, records };
}

/** A chat that is refused before any upstream is called: the row is right, and nothing was spent or recorded. */
export async function expectRefused(bench: Bench, body: unknown, row: ErrorRow, account?: TestAccount): Promise<void> {
  const caller = account ?? (await bench.gateway.account());
  const reply = await expectNothingSpent(bench, caller, () => bench.gateway.chat(body, { key: caller.key }));
  expectError(reply, row);
}

/** A chat that fails in the walk: the row is right, nothing is billed, and the record says what happened, with cost 0. */
export async function expectWalkFailed(
  bench: Bench,
  body: unknown,
  row: ErrorRow,
  expected: { upstreamCalls: number; record?: Json; account?: TestAccount },
): Promise<Json> {
  const account = expected.account ?? (await bench.gateway.account());
  const act = () => bench.gateway.chat(body, { key: account.key });
  const reply = await expectNothingSpent(bench, account, act, { upstreamCalls: expected.upstreamCalls, records: 1 });
  expectError(reply, row);
  const record = await newestRecord(bench.gateway, account.key);
  expect(record).toMatchObject({
    status: row.status,
    error_code: row.code ?? null,
    cost_usd: '0',
    prompt_tokens: 0,
    completion_tokens: 0,
    served_model: null,
    finish_reason: null,
    ...expected.record,
  });
  return record;
}

export async function newestRecord(gateway: TestGateway, key: string): Promise<Json> {
  const reply = await gateway.call('GET', '/v1/generations?limit=1', undefined, { key });
  expect(reply.status).toBe(200);
  return reply.json.data[0] as Json;
}

export async function generation(gateway: TestGateway, id: string, key?: string): Promise<Json> {
  const reply = await gateway.call('GET', `/v1/generation/${id}`, undefined, key ? { key } : {});
  expect(reply.status, reply.text).toBe(200);
  return reply.json.data as Json;
}
