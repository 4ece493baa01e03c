/** A customer of a gateway with own credentials, before a scripted upstream that shows which one a call carries. */
import { beforeEach } from 'vitest';
import type { Json } from '../../support/client.js';
import { json } from '../../support/scripted-upstream.js';
import { makeSecretsKey } from '../../support/secrets-key.js';
import { ask, useGateway } from '../harness.js';
import { type Manager, managerOf } from '../projects/manager.js';

export const own = 'own-key-of-a-customer-0123456789';
/** The operator has a credential for the first alone. */
export const keyed = 'keyed/meta/llama/defra';
export const keyless = 'keyless/meta/llama/defra';

export const refused = (status: number, more: Json = {}) =>
  json({ error: { message: `no ${own}`, ...more } }, { status });

/** A new customer for each test. `config` is added to the configuration. */
export function useCustomer(config: Json = {}) {
  const bench = useGateway({
    env: { KEYED_API_KEY: 'the-key-of-the-operator' },
    config: {
      secrets: { key_file: makeSecretsKey() },
      own_keys: { fee_percent: '10', fee_per_request_usd: '0.001' },
      limits: { key_requests_per_minute: 10_000 },
      ...config,
    },
  });
  const rig = {
    bench,
    customer: {} as Manager,
    bring(fields: Json = {}) {
      const body = { provider: 'keyed', name: 'our key', secret: { api_key: own }, ...fields };
      return rig.customer.call('POST', '/credentials', body);
    },
    chat: (model: string, more: Json = {}) => bench.gateway.chat(ask({ model, ...more }), { key: rig.customer.key }),
    sentKeys: () => bench.upstream.calls.map(({ headers }) => String(headers.authorization).replace('Bearer ', '')),
  };
  beforeEach(async () => {
    rig.customer = await managerOf(bench);
  });
  return rig;
}
