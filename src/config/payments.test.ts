// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration writes its references this way
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Config } from './config.js';
import type { ConfigFault } from './config-fault.js';
import type { Environment } from './load-config.js';
import { loadConfig } from './load-config.js';

const directory = mkdtempSync(join(tmpdir(), 'lodestone-config-'));
afterAll(() => rmSync(directory, { recursive: true }));

function load(yaml: string, env: Environment = {}): Config {
  writeFileSync(join(directory, 'lodestone.yaml'), yaml);
  return loadConfig({ env, cwd: directory });
}

function faultsOf(yaml: string, env: Environment = {}): string {
  try {
    load(yaml, env);
  } catch (error) {
    return (error as ConfigFault).faults.join('\n');
  }
  return '';
}

describe('payments and notices in the configuration', () => {
  it('take Stripe with its secrets from the environment, and name the one that the environment has not', () => {
    const yaml =
      'payments: { processor: stripe, secret_key: ${STRIPE_SECRET_KEY}, webhook_secret: ${STRIPE_WEBHOOK_SECRET} }';
    const env = { STRIPE_SECRET_KEY: 'sk_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' };
    expect(load(yaml, env).payments).toEqual({
      ...{ processor: 'stripe', secretKey: 'sk_1', webhookSecret: 'whsec_1', apiBase: null },
    });
    expect(faultsOf(yaml, { STRIPE_SECRET_KEY: 'sk_1' })).toBe(
      'lodestone.yaml:1:82: payments.webhook_secret: found ${STRIPE_WEBHOOK_SECRET}, expected a variable that the environment has',
    );
  });

  it.each([
    [
      'payments:\n  processor: stripe\n  webhook_secret: whsec_1',
      'payments.secret_key',
      'payments.processor is stripe',
    ],
    ['payments: { processor: stripe, secret_key: sk_1 }', 'payments.webhook_secret', 'payments.processor is stripe'],
    ['notices: { webhook: { url: "https://ops.example" } }', 'notices.webhook.secret', 'notices.webhook is set'],
    ['notices: { webhook: { secret: s3cret } }', 'notices.webhook.url', 'notices.webhook is set'],
  ])('stop the start where something is missing, and name it: %s', (yaml, field, why) => {
    const faults = faultsOf(yaml);
    expect(faults).toContain(`: ${field}: missing, expected a value, because ${why}`);
    expect(faults).not.toMatch(/whsec_1|sk_1|s3cret/);
  });

  it('read every field, and default those that are left out', () => {
    const config = load(
      [
        'payments: { processor: stripe, secret_key: sk_1, webhook_secret: whsec_1, api_base: "http://127.0.0.1:1/" }',
        'notices: { low_balance_usd: "2.50", webhook: { url: "https://ops.example/hook", secret: s3cret }, interval: 5s }',
      ].join('\n'),
    );
    expect(config.payments).toMatchObject({ apiBase: 'http://127.0.0.1:1' });
    expect(config.notices).toEqual({
      lowBalancePico: 2_500_000_000_000n,
      webhook: { url: 'https://ops.example/hook', secret: 's3cret' },
      intervalMs: 5000,
    });
    expect(load('payments: { processor: none }').notices).toMatchObject({ webhook: null, intervalMs: 30_000 });
  });

  it.each([
    ['payments: { processor: paypal }', 'payments.processor: found "paypal", expected one of: none, stripe'],
    ['payments: { currency: EUR }', 'payments.currency: found "EUR", expected one of: USD'],
    ['payments: { api_base: stripe.example }', 'payments.api_base: found "stripe.example", expected an http://'],
    ['notices: { low_balance_usd: "-1" }', 'notices.low_balance_usd: found "-1", expected an amount of USD'],
    ['notices: { interval: 0s }', 'notices.interval: found "0s", expected a duration above zero'],
  ])('%s: %s', (yaml, expected) => expect(faultsOf(yaml)).toContain(expected));
});
