import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApiDocument } from '../../../src/http/openapi/document.js';
import { rateLimitHeaders } from '../../../src/http/openapi/headers.js';
import { type Method, methods, type Operation } from '../../../src/http/openapi/types.js';
import type { Reply, TestAccount } from '../../support/client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { adminToken, shortTimeouts } from '../../support/gateway-files.js';
import { Conformance } from '../../support/openapi-conformance.js';
import { secretKey, webhookSecret } from '../../support/scripted-stripe.js';
import { signer } from '../../support/signed-catalogues.js';
import { bodies, type Parameters, proofs, scenes } from './scenes.js';

const conformance = new Conformance(openApiDocument);
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({
    config: {
      payments: { processor: 'stripe', secret_key: secretKey, webhook_secret: webhookSecret },
      timeouts: shortTimeouts,
      catalogue_updates: { key: signer.verifier.text },
    },
  });
});
afterAll(() => gateway?.stop());

interface Described {
  method: Method;
  path: string;
  operation: Operation;
}

const operations: Described[] = Object.entries(openApiDocument.paths).flatMap(([path, item]) =>
  methods.flatMap((method) => (item[method] ? [{ method, path, operation: item[method] }] : [])),
);

const needsKey = ({ security }: Operation) => security.every((one) => Object.keys(one).length > 0);
const isAdmin = ({ security }: Operation) => security.some((one) => 'adminToken' in one);
const statusesOf = ({ responses }: Operation) => Object.keys(responses);
/** Only a provider can serve it, and this gateway has the credential of none. `tests/doors/compact.test.ts` shows the answer. */
const isUnconfigured = ({ operationId }: Operation) => operationId === 'compactResponse';
/** Nobody issues tokens here, so the example is refused. `tests/api/token` shows the answer. */
const isWithoutIssuer = ({ operationId }: Operation) => operationId === 'exchangeToken';
const goodStatus = (operation: Operation) =>
  isUnconfigured(operation)
    ? 503
    : isWithoutIssuer(operation)
      ? 400
      : Number(statusesOf(operation).find((status) => status.startsWith('2')));

function addressOf({ path, operation }: Described, values: Parameters): string {
  const query = new URLSearchParams();
  let address = path;
  for (const parameter of operation.parameters ?? []) {
    const value = values[parameter.name] ?? parameter.example;
    if (value === undefined) continue;
    if (parameter.in === 'path') address = address.replace(`{${parameter.name}}`, String(value));
    else query.set(parameter.name, String(value));
  }
  return query.size > 0 ? `${address}?${query}` : address;
}

function bodiesOf({ requestBody, operationId }: Operation): unknown[] {
  const made = bodies[operationId]?.();
  if (made !== undefined) return [made];
  const examples = Object.values(requestBody?.content ?? {})[0]?.examples ?? {};
  const values = Object.values(examples).map((example) => ('value' in example ? example.value : undefined));
  return values.length > 0 ? values : [undefined];
}

async function prepared(
  described: Described,
): Promise<{ caller: TestAccount; values: Parameters; key: string | null }> {
  const { operation } = described;
  const caller = await gateway.createAccount();
  const values = (await scenes[operation.operationId]?.({ gateway, caller })) ?? {};
  return { caller, values, key: keyFor(operation, caller) };
}

function keyFor(operation: Operation, caller: TestAccount): string | null {
  if (!needsKey(operation)) return null;
  return isAdmin(operation) ? adminToken : caller.key;
}

async function send(
  described: Described,
  { values = {}, body, key }: { values?: Parameters; body?: unknown; key: string | null },
): Promise<Reply> {
  const { operationId, requestBody } = described.operation;
  const form = 'application/x-www-form-urlencoded';
  if (typeof body === 'object' && requestBody?.content[form]) {
    const text = String(new URLSearchParams(body as Record<string, string>));
    return gateway.call('POST', described.path, text, { key, headers: { 'content-type': form } });
  }
  const headers = proofs[operationId]?.(body) ?? {};
  return gateway.call(described.method.toUpperCase(), addressOf(described, values), body, { key, headers });
}

function expectConforming({ method, path, operation }: Described, reply: Reply, status: number): void {
  expect(reply.status, reply.text.slice(0, 500)).toBe(status);
  expect(conformance.faultsOf(method, path, operation, reply)).toEqual([]);
}

describe.each(operations.map((one) => ({ name: `${one.method.toUpperCase()} ${one.path}`, ...one })))(
  '$name does what the document declares',
  (described) => {
    const { operation, method, path } = described;
    const required = needsKey(operation);

    it('answers every example of it with what it declares', async () => {
      const { values, key } = await prepared(described);
      for (const body of bodiesOf(operation)) {
        const reply = await send(described, { values, body, key });
        expectConforming(described, reply, goodStatus(operation));
        if (required && !isAdmin(operation))
          expect(Object.keys(reply.headers)).toEqual(expect.arrayContaining(rateLimitHeaders));
      }
    });

    if (required)
      it('answers 401 without a key, and with one that is none', async () => {
        const body = bodiesOf(operation)[0];
        for (const key of [null, 'sk-lr-short']) {
          expectConforming(described, await send(described, { body, key, values: somewhere }), 401);
        }
      });

    if (operation.requestBody)
      it('answers 400 to a body that is no JSON object', async () => {
        const { values, key } = await prepared(described);
        for (const body of ['{', '[]', '"text"'])
          expectConforming(described, await send(described, { values, body, key }), 400);
      });

    if ('404' in operation.responses && operation.parameters)
      it('answers 404 to what does not exist', async () => {
        // What is managed takes a key of another kind, which the scene makes.
        const isManaged = operation.security.some((one) => 'managementKey' in one);
        const { key } = isManaged ? await prepared(described) : { key: keyFor(operation, await gateway.account()) };
        expectConforming(
          described,
          await send(described, { values: somewhere, body: bodiesOf(operation)[0], key }),
          404,
        );
      });

    if (hasLimit(operation))
      it('answers 400 to a limit outside its range', async () => {
        const { values, key } = await prepared(described);
        expectConforming(described, await send(described, { values: { ...values, limit: '0' }, key }), 400);
      });

    it('answers 405 to a method that the path does not have', async () => {
      const other = methods.find((one) => one !== 'get' && !(one in openApiDocument.paths[path]!))!;
      const reply = await gateway.call(other.toUpperCase(), addressOf(described, somewhere), undefined, { key: null });
      expectConforming({ ...described, method }, reply, 405);
      expect(reply.headers.allow).toContain(method.toUpperCase());
    });
  },
);

/** A value for any parameter, of which there is nothing. */
const somewhere: Parameters = Object.fromEntries(
  ['id', 'name', 'key_id', 'provider', 'creator', 'model', 'locode'].map((name) => [name, 'nothing-of-that-name']),
);

function hasLimit({ parameters = [] }: Operation): boolean {
  return parameters.some(({ name }) => name === 'limit');
}

describe('POST /v1/chat/completions, further answers', () => {
  const path = '/v1/chat/completions';
  const described: Described = { method: 'post', path, operation: openApiDocument.paths[path]!.post! };
  const messages = [{ role: 'user', content: 'One two three four five six' }];

  it.each([
    [400, { model: 'sandbox/lodestone/reject' }],
    [400, { model: 'sandbox/lodestone/echo', logprobs: true }],
    [400, { model: 'sandbox/lodestone/echo', temperature: 9 }],
    [400, { model: 'echo' }],
    [400, { model: 'sandbox/lodestone/echo', fallback: { models: ['auto/nobody/nothing'] } }],
    [404, { model: 'sandbox/lodestone/regions/jptyo' }],
    [404, { model: 'alias/nothing' }],
    [503, { model: 'sandbox/lodestone/capacity' }],
    [503, { model: 'sandbox/lodestone/quota' }],
    [503, { model: 'sandbox/lodestone/unpriced' }],
    [503, { model: 'auto/lodestone/outage' }],
    [504, { model: 'sandbox/lodestone/timeout' }],
  ])('%i for %j', async (status, request) => {
    const { key } = await gateway.createAccount();
    expectConforming(described, await gateway.chat({ messages, ...request }, { key }), status);
  });

  it('402 without credit', async () => {
    const { key } = await gateway.createAccount({ credit: null });
    expectConforming(described, await gateway.chat({ model: 'sandbox/lodestone/echo', messages }, { key }), 402);
  });

  it('403 where the policy leaves nothing, and where the account is suspended', async () => {
    const { key, accountId } = await gateway.createAccount();
    await gateway.call('PUT', '/v1/routing-policy', { providers: { allow: ['nobody'] } }, { key });
    const request = { model: 'auto/lodestone/echo', messages };
    expectConforming(described, await gateway.chat(request, { key }), 403);
    await gateway.admin('PATCH', `/accounts/${accountId}`, { status: 'suspended' });
    expectConforming(described, await gateway.chat(request, { key }), 403);
  });

  it('429 with Retry-After where the key’s requests are used up', async () => {
    const { key, accountId } = await gateway.createAccount();
    await gateway.admin('PATCH', `/accounts/${accountId}`, { limits: { requests_per_minute: 1 } });
    await gateway.call('GET', '/v1/key', undefined, { key });
    const reply = await gateway.chat({ model: 'sandbox/lodestone/echo', messages }, { key });
    expectConforming(described, reply, 429);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
  });

  it.each(['sandbox/lodestone/echo', 'sandbox/lodestone/stall'])('a stream of %s, frame by frame', async (model) => {
    const { key } = await gateway.createAccount();
    const reply = await gateway.stream({ model, messages, stream_options: { include_usage: true } }, { key });
    expectConforming(described, reply, 200);
    const frames = reply.frames.filter(({ json }) => json !== undefined);
    expect(frames.length).toBeGreaterThan(2);
    for (const { json } of frames) expect(conformance.schemaFaults('ChatCompletionChunk', json)).toEqual([]);
  });
});

describe('GET /openapi.json', () => {
  it('is the document, with an etag that spares sending it again', async () => {
    const reply = await gateway.call('GET', '/openapi.json', undefined, { key: null });
    expect(reply.json).toEqual(JSON.parse(JSON.stringify(openApiDocument)));
    const headers = { 'if-none-match': String(reply.headers.etag) };
    const again = await gateway.call('GET', '/openapi.json', undefined, { key: null, headers });
    expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: '' });
  });
});

describe('the check itself', () => {
  const path = '/v1/credits';
  const operation = openApiDocument.paths[path]!.get!;
  const reply = (json: unknown, headers = {}): Reply => ({
    status: 200,
    headers: { 'content-type': 'application/json', 'x-request-id': 'req-01j9z3k4m5n6p7q8r9s0t1v2w3', ...headers },
    text: JSON.stringify(json),
    json,
  });
  const data = {
    balance_usd: '1.5',
    held_usd: '0',
    requests_in_flight: 0,
    total_credits: 2,
    total_usage: 0.5,
    currency: 'USD',
  };

  it('finds fields and headers that are missing, wrong or not declared', () => {
    expect(conformance.faultsOf('get', path, operation, reply({ data }))).toEqual([]);
    for (const faulty of [
      reply({ data: { ...data, balance_usd: 1.5 } }),
      reply({ data: { ...data, secret: 1 } }),
      reply({ data: { ...data, currency: undefined } }),
      reply({ data }, { 'x-secret': 'yes' }),
      reply({ data }, { 'x-request-id': 'none' }),
    ]) {
      expect(conformance.faultsOf('get', path, operation, faulty)).toHaveLength(1);
    }
  });
});
