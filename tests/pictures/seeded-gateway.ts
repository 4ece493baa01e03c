/** A gateway with a month of an account's traffic and a provider that answers, for the pictures of the documentation. */
import { dashboardCall, type Member, signUp } from '../support/dashboard.js';
import { dashboardCatalogue } from '../support/dashboard-catalogue.js';
import { writeTraffic } from '../support/dashboard-traffic.js';
import { type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import type { YamlObject } from '../support/gateway-files.js';
import * as up from '../support/scripted-upstream.js';

export const question = 'Why does the carbon intensity of a region change during the day?';
const answer =
  'Because the mix of power plants does. At noon solar and wind cover much of the demand, and a kilowatt-hour in Paris or Stockholm emits less than 50 g of CO₂. In the evening gas and coal plants fill the gap, and the same request emits several times as much. A limit in your routing policy keeps requests in regions whose figure is below it.';

export const answerWords = answer.match(/\S+\s*/g)!;

export interface SeededGateway {
  upstream: up.ScriptedUpstream;
  gateway: SpawnedGateway;
  member: Member;
  stop(): Promise<void>;
}

export async function startSeeded(): Promise<SeededGateway> {
  const upstream = await up.startUpstream();
  const usage = up.usage(27, answerWords.length + 31);
  upstream.onRequest(() => up.sse(up.streamOf(answerWords, { usage }), { delayMs: 180, gapMs: 12 }));
  const gateway = await spawnGateway({
    catalogue: catalogueAnsweredBy(upstream.url),
    config: { registration: 'open', server: { drain: '5s' } },
  });
  const member = await signUp(gateway, 'ada@example.com');
  await furnish(gateway, member);
  return {
    upstream,
    gateway,
    member,
    async stop() {
      await gateway.stop();
      await upstream.stop();
    },
  };
}

/** The dashboard's catalogue, in which providers answer in words of their own instead of repeating the question. */
function catalogueAnsweredBy(url: string): YamlObject {
  const providers = dashboardCatalogue.providers as YamlObject[];
  return {
    ...dashboardCatalogue,
    providers: providers.map((provider) =>
      provider.id !== 'sandbox' ? { ...provider, dialect: 'openai', base_url: `${url}/v1` } : provider,
    ),
  };
}

async function furnish(gateway: SpawnedGateway, member: Member): Promise<void> {
  const keys: { id: string; name: string }[] = [];
  for (const name of ['production', 'staging', 'research']) {
    const { json } = await gateway.admin('POST', `/accounts/${member.accountId}/keys`, { name, expires: 'never' });
    keys.push(json as { id: string; name: string });
  }
  await dashboardCall(
    gateway,
    'PUT',
    'v1/routing-policy',
    { deny_cloud_act: true, max_carbon: 300, regions: { allow: [], deny: ['BR'] } },
    member,
  );
  const traffic = { databaseUrl: gateway.files.databaseUrl!, accountId: member.accountId, keys, nowMs: Date.now() };
  await writeTraffic({ ...traffic, scale: 8 });
  // Balances are read when the gateway starts.
  await gateway.restart();
}
