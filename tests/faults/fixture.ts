/** Shared by the fault tests: a gateway in front of scripted upstreams, with its billing checked to the pico-dollar. */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { beforeEach, expect } from 'vitest';
import { parseUsd, usdText } from '../../src/base/money.js';
import type { CatalogueOptions } from '../support/catalogues.js';
import type { GatewayClient, Json, TestAccount } from '../support/client.js';
import { catalogueOf, type SpawnedGateway, spawnGateway, startGateway, type TestGateway } from '../support/gateway.js';
import type { YamlObject } from '../support/gateway-files.js';
import { measuredTime } from '../support/measured-time.js';
import { completion, json, type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { registerPrompt } from '../support/secrets.js';
import type { SpawnOptions } from '../support/spawned-gateway.js';

export { full, scaled } from '../support/scaled.js';

export const pin = 'acme/meta/llama-3.3-70b/defra';
export const otherPin = 'beta/meta/llama-3.3-70b/defra';
export const prompt = 'Say hello.';
registerPrompt(prompt);

export function ask(more: Json = {}): Json {
  return { model: pin, messages: [{ role: 'user', content: prompt }], ...more };
}

/** The catalogue's prices, in pico-dollars a token (0.60 and 0.80 USD a million). */
export function costOf(promptTokens: number, completionTokens: number): bigint {
  return BigInt(promptTokens) * 600_000n + BigInt(completionTokens) * 800_000n;
}

/** docs/decisions/0002: what `prompt` and a delivered text weigh where the provider does not say. */
export const promptTokens = 3 + 3 + countTokens('user') + countTokens(prompt);
export const tokensOf = (text: string): number => countTokens(text);
export const countedCost = (delivered: string): bigint => costOf(promptTokens, tokensOf(delivered));

/** Texts of one token each, also when they are put together. */
export const words = (count: number): string[] => Array.from({ length: count }, (_, i) => (i % 2 ? ' two' : ' one'));

export interface RigOptions {
  config?: YamlObject;
  catalogue?: CatalogueOptions;
  /** More routes' addresses by provider id, beside the scripted `acme` and `beta`. */
  providers?: Record<string, string>;
  embedded?: boolean;
  env?: Record<string, string>;
}

export interface Rig<Gateway extends GatewayClient = TestGateway> {
  gateway: Gateway;
  /** Of the provider `acme`, which `pin` names. */
  upstream: ScriptedUpstream;
  /** Of the provider `beta`. */
  other: ScriptedUpstream;
  stop(): Promise<void>;
}

export const startRig = (options: RigOptions = {}): Promise<Rig> => rigOf(options, startGateway);
export const spawnRig = (options: RigOptions = {}): Promise<Rig<SpawnedGateway>> => rigOf(options, spawnGateway);

async function rigOf<Gateway extends GatewayClient & { stop(): Promise<void> }>(
  { config, catalogue, providers, embedded, env }: RigOptions,
  start: (options: SpawnOptions) => Promise<Gateway>,
): Promise<Rig<Gateway>> {
  const upstream = await startUpstream();
  const other = await startUpstream();
  const addresses = { acme: upstream.url, beta: other.url, ...providers };
  const gateway = await start({
    config: config ?? {},
    catalogue: catalogueOf(addresses, catalogue),
    embedded: embedded ?? false,
    env: env ?? {},
  });
  return {
    gateway,
    upstream,
    other,
    async stop() {
      await gateway.stop();
      await upstream.stop();
      await other.stop();
    },
  };
}

/** All records of the account, newest first, once there are as many as expected. */
export async function generations(
  gateway: GatewayClient,
  { key }: TestAccount,
  count: number,
  patienceMs = 60_000,
): Promise<Json[]> {
  const until = performance.now() + patienceMs;
  // Less and less often: to read hundreds of records over and over takes the processor from the gateway that writes them.
  for (let pauseMs = 20; ; pauseMs = Math.min(2 * pauseMs, 400)) {
    const found = await everyGeneration(gateway, key);
    if (found.length >= count || performance.now() > until) return found;
    await pause(pauseMs);
  }
}

async function everyGeneration(gateway: GatewayClient, key: string): Promise<Json[]> {
  const found: Json[] = [];
  for (;;) {
    const after = found.length > 0 ? `&after=${String(found.at(-1)?.id)}` : '';
    const { json: page } = await gateway.call('GET', `/v1/generations?limit=100${after}`, undefined, { key });
    found.push(...((page.data ?? []) as Json[]));
    if (!page.has_more) return found;
  }
}

/**
 * The ledger of an account after `records` requests reached the walk: exactly these costs, each under a generation of its own
 * that says the same, and a balance that is the credits less the costs and the sum of the ledger. Returns the records.
 */
export async function expectBooks(
  gateway: GatewayClient,
  account: TestAccount,
  { records, costs }: { records: number; costs: readonly bigint[] },
): Promise<Json[]> {
  const found = await generations(gateway, account, records);
  expect(found).toHaveLength(records);
  const entries = (await gateway.admin('GET', `/accounts/${account.accountId}/ledger?limit=100000`)).json
    .data as Json[];
  const usage = entries.filter(({ kind }) => kind === 'usage');
  expect(sorted(usage.map(({ amount_usd }) => -pico(amount_usd)))).toEqual(sorted(costs));
  const costById = new Map(found.map(({ id, cost_usd }) => [id, pico(cost_usd)]));
  expect(new Set(usage.map(({ generation_id }) => generation_id)).size).toBe(usage.length);
  for (const entry of usage) expect(costById.get(entry.generation_id)).toBe(-pico(entry.amount_usd));
  const credits = entries
    .filter(({ kind }) => kind !== 'usage')
    .reduce((sum, entry) => sum + pico(entry.amount_usd), 0n);
  const spent = costs.reduce((sum, cost) => sum + cost, 0n);
  expect(await gateway.balance(account.accountId)).toBe(usdText(credits - spent));
  expect(entries.reduce((sum, { amount_usd }) => sum + pico(amount_usd), 0n)).toBe(credits - spent);
  return found;
}

export const pico = (text: unknown): bigint => parseUsd(String(text)) as bigint;

function sorted(values: readonly bigint[]): bigint[] {
  return [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** The gateway still answers an ordinary request of another account. */
export async function expectServes({
  gateway,
  upstream,
}: Pick<Rig<GatewayClient>, 'gateway' | 'upstream'>): Promise<void> {
  upstream.onRequest(() => json(completion({ content: 'Still here.' })));
  const reply = await gateway.chat(ask());
  expect([reply.status, reply.json.choices?.[0]?.message?.content]).toEqual([200, 'Still here.']);
  upstream.onRequest(() => undefined);
}

export interface EnvelopeOf {
  status: number;
  type: string;
  code: string;
}

export const providerError: EnvelopeOf = { status: 503, type: 'provider_error', code: 'provider_error' };

/** An error answer in the error envelope; returns its message. */
export function expectError(reply: { status: number; json: unknown; headers: object }, wanted: EnvelopeOf): string {
  const { error } = reply.json as { error?: Record<string, unknown> };
  expect({ status: reply.status, type: error?.type, code: error?.code }).toEqual(wanted);
  expect(String((reply.headers as Json)['content-type'])).toMatch(/^application\/json/);
  expect((reply.headers as Json)['x-request-id']).toBeTruthy();
  return String(error?.message);
}

export function timeoutMessage(provider: string, budget: string, deadline: string): string {
  return `The provider ${provider} did not answer in time: the ${budget} budget of ${deadline} expired. Nothing was billed. Retry with backoff.`;
}

export const timeoutError: EnvelopeOf = { status: 504, type: 'provider_unavailable', code: 'provider_timeout' };

/**
 * How long this process itself was held up since the test began: on a busy machine that is nobody's fault. It is asked a hundred times a
 * second: five hundred times took a hundredth of a processor in every process of the tests.
 */
const resolutionMs = 10;
const heldUp = monitorEventLoopDelay({ resolution: resolutionMs });
heldUp.enable();
beforeEach(() => heldUp.reset());
export const heldUpMs = (): number => Math.max(0, heldUp.max / 1e6 - resolutionMs);

export function expectWithin(elapsedMs: number, boundMs: number): void {
  expect(elapsedMs, measuredTime).toBeLessThan(boundMs + heldUpMs());
}

/** At the deadline, 100 ms more or less; a gateway in a process of its own may have waited for a processor besides. */
export function expectAt(elapsedMs: number, deadlineMs: number, gatewayWaitedMs = 0): void {
  // Held up, this process may have seen the beginning late, too, and the gateway may have read that late.
  expect(elapsedMs, measuredTime).toBeGreaterThan(deadlineMs - 100 - heldUpMs() - gatewayWaitedMs);
  expectWithin(elapsedMs, deadlineMs + 100 + gatewayWaitedMs);
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
