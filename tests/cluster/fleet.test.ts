/** Two replicas on one PostgreSQL and one Redis are one gateway. With LODESTONE_FULL=1 the suites have their full counts. */
import { afterAll, beforeAll } from 'vitest';
import { type Replicas, startReplicas } from '../support/replicas.js';
import { type ScriptedIssuer, startIssuer } from '../support/scripted-issuer.js';
import { type ScriptedStripe, startStripe } from '../support/scripted-stripe.js';
import { makeSecretsKey } from '../support/secrets-key.js';
import { signer } from '../support/signed-catalogues.js';
import { balanceSuite } from './balance-suite.js';
import { catalogueUpdatesSuite } from './catalogue-updates-suite.js';
import { changesSuite } from './changes-suite.js';
import { changingFleet } from './changing-fleet.js';
import { conversationsSuite } from './conversations-suite.js';
import { ownCredentialsSuite, ownProviders } from './own-credentials-suite.js';
import { paymentsSuite } from './payments-suite.js';
import { reloadSuite } from './reload-suite.js';
import { revocationSuite } from './revocation-suite.js';
import { workloadsSuite } from './workloads-suite.js';

const { config, catalogue, remove } = changingFleet();
let stripe: ScriptedStripe;
let issuer: ScriptedIssuer;
let fleet: Replicas;
beforeAll(async () => {
  stripe = await startStripe();
  issuer = await startIssuer('ES256');
  const territories = { sanctioned: ['CU', 'KP'] };
  const updates = { catalogue: ['builtin', 'catalogue.yaml'], catalogue_updates: { key: signer.verifier.text } };
  fleet = await startReplicas({
    catalogue,
    config: {
      ...{ ...config, ...updates, payments: stripe.config, territories, workload_issuers: [issuer.url] },
      ...{ providers: ownProviders, secrets: { key_file: makeSecretsKey() } },
      // No suite takes Redis away, and what they count is promised while it answers, however slowly on a busy machine.
      storage: { redis_timeout: '1s' },
    },
  });
}, 180_000);
afterAll(async () => {
  await fleet?.stop();
  await stripe?.stop();
  await issuer?.stop();
  remove();
});

const shared = () => fleet;
// First, because a reload without the built-in catalogue takes less time.
catalogueUpdatesSuite(shared);
revocationSuite(shared);
balanceSuite(shared);
conversationsSuite(shared);
paymentsSuite(shared);
changesSuite(shared);
workloadsSuite(shared, () => issuer);
ownCredentialsSuite(shared);
reloadSuite(shared);
