/** `lodestone provider …` */

import { silentLogger } from '../../base/logger.js';
import type { ProviderKey } from '../../base/provider-key.js';
import { parseDurationMs, systemClock } from '../../base/time.js';
import type { Provider, Route, Snapshot } from '../../catalogue/route.js';
import type { Config } from '../../config/config.js';
import { ProviderCredentials } from '../../providers/credentials/provider-credentials.js';
import { cheapestRoute, type Probed, type ProbePorts, probe } from '../../providers/provider-check/probe.js';
import { type CheckResult, noRoute, notConfigured, resultOf } from '../../providers/provider-check/verdict.js';
import { Deadlines } from '../../providers/transport/deadlines.js';
import { HttpTransport } from '../../providers/transport/http-transport.js';
import { proxiesOf } from '../../providers/transport/upstream-proxy.js';
import { readCatalogue } from '../catalogue-snapshot.js';
import { type Command, type CommandContext, text } from '../command.js';
import { readConfig } from '../connection.js';
import { CommandFailure, type Io, UsageError } from '../io.js';
import { table } from '../text-table.js';

export const providerCommands: readonly Command[] = [
  {
    name: 'provider check',
    parameters: '[<provider or route id>] [--timeout 10s]',
    summary: 'Call every configured provider, or one, with a minimal request, and say what is wrong. Needs no server.',
    options: { timeout: { ...text, default: '10s' } },
    positionalsMax: 1,
    run: checkProviders,
  },
];

async function checkProviders({ io, json, options, positionals, markFailed }: CommandContext): Promise<void> {
  const timeoutMs = parseDurationMs(options.timeout ?? '');
  if (!timeoutMs) throw new UsageError(`"${options.timeout}" is not a duration such as 10s`);
  const config = readConfig(options.config, io);
  const { snapshot, faults } = await readCatalogue(config, io);
  if (!snapshot) throw new CommandFailure(faults.join('\n'));
  const { probed, others } = chooseRoutes(snapshot, positionals[0]);
  const checked = await callAll(probed, config, io, timeoutMs);
  if (json) io.out(JSON.stringify({ object: 'list', data: [...checked, ...others] }, null, 2));
  else io.out(textOf(checked, others, positionals[0] !== undefined));
  const wanted = positionals[0] === undefined ? checked : [...checked, ...others];
  if (wanted.some(({ verdict }) => verdict !== 'ok')) markFailed();
}

interface Chosen {
  /** The routes to call, with each of the provider's keys where it has several. */
  probed: Probed[];
  /** The results for providers that cannot be called. */
  others: CheckResult[];
}

/** The cheapest route of one provider, one route, or the cheapest route of every provider. */
function chooseRoutes(snapshot: Snapshot, asked: string | undefined): Chosen {
  if (asked?.includes('/')) {
    const route = snapshot.routes.get(asked);
    if (!route) throw new CommandFailure(`The catalogue has no route "${asked}".`);
    if (route.responsesOnly) {
      throw new CommandFailure(
        `${asked} takes requests of the Responses API alone, and the check sends a chat. Name another.`,
      );
    }
    return route.provider.configured
      ? { probed: withKeys(route.provider.keys, () => route), others: [] }
      : { probed: [], others: [notConfigured(route.provider)] };
  }
  const provider = asked === undefined ? undefined : snapshot.providers.get(asked);
  if (asked !== undefined && !provider) {
    const known = [...snapshot.providers.keys()].join(', ');
    throw new CommandFailure(`The catalogue has no provider "${asked}". It has: ${known}.`);
  }
  const result: Chosen = { probed: [], others: [] };
  for (const one of provider ? [provider] : externalProviders(snapshot)) {
    const probed = withKeys(one.keys, (key) => cheapestRoute(snapshot, one, key));
    result.probed.push(...probed);
    if (probed.length === 0) result.others.push(one.configured ? noRoute(one) : notConfigured(one));
  }
  return result;
}

/** A route for each key, or one for the one credential. A key without a route that it may be used for is left out. */
function withKeys(
  keys: readonly ProviderKey[] | undefined,
  routeFor: (key?: ProviderKey) => Route | undefined,
): Probed[] {
  const probed = (key?: ProviderKey): Probed[] => {
    const route = routeFor(key);
    return route ? [{ route, ...(key && { key }) }] : [];
  };
  return keys ? keys.flatMap((key) => probed(key)) : probed();
}

/** The sandbox runs inside the gateway, so there is nothing to call. */
function externalProviders({ providers }: Snapshot): Provider[] {
  return [...providers.values()].filter(({ dialect }) => dialect !== 'sandbox');
}

async function callAll(all: readonly Probed[], config: Config, io: Io, timeoutMs: number): Promise<CheckResult[]> {
  const clock = systemClock;
  const transport = new HttpTransport({
    nowMs: () => clock.monotonicMs(),
    idleMsMax: config.timeouts.idleConnectionMs,
    proxyOf: proxiesOf(io.env),
  });
  const credentials = new ProviderCredentials({ clock, env: io.env, logger: silentLogger });
  const ports: ProbePorts = { transport, credentials, deadlines: new Deadlines(clock), clock, timeoutMs };
  try {
    return await Promise.all(
      all.map(async (probed) => {
        const { route, key } = probed;
        if (route.provider.dialect === 'sandbox') return sandboxResult(route);
        const keySource = key ? `its key "${key.name}" of the configuration` : keySourceOf(route.provider, config);
        const result = resultOf(route, await probe(ports, probed), { keySource, timeoutMs });
        return key ? { ...result, key: key.name } : result;
      }),
    );
  } finally {
    await transport.close();
  }
}

function sandboxResult({ id, provider }: Route): CheckResult {
  return { provider: provider.id, route: id, verdict: 'ok', status: null, latency_ms: 0, said: null, advice: '' };
}

function keySourceOf({ id, auth, apiKeyEnv }: Provider, { providers }: Config): string {
  if (providers[id]?.apiKey != null) return `the api_key of providers.${id} in the configuration`;
  if (auth === 'aws') return 'the AWS credentials';
  if (auth === 'google') return 'the Google credentials';
  return auth === 'none' ? 'a call without a key' : `the key in ${apiKeyEnv}`;
}

function reasonOf({ verdict }: CheckResult): string {
  return verdict === 'no_route' ? 'has no route that could be called' : 'is not configured';
}

function nameOf({ provider, key }: CheckResult): string {
  return key === undefined ? provider : `${provider} (${key})`;
}

function textOf(checked: readonly CheckResult[], others: readonly CheckResult[], isOne: boolean): string {
  const words = ({ verdict }: CheckResult) => verdict.replaceAll('_', ' ');
  const parts: string[] = [];
  if (checked.length > 0) {
    const rows = checked.map((result) => [
      nameOf(result),
      words(result),
      result.route,
      result.status,
      result.latency_ms,
    ]);
    parts.push(table(['provider', 'result', 'route called', 'http', 'ms'], rows));
  } else if (isOne) parts.push(`${others[0]!.provider} was not called, because it ${reasonOf(others[0]!)}.`);
  else parts.push('No provider was called, because none of them is configured.');
  for (const result of checked.filter(({ verdict }) => verdict !== 'ok')) {
    const said = result.said === null ? '' : `\n  It said: ${result.said}`;
    parts.push(`${nameOf(result)}: ${words(result)}\n  ${result.advice}${said}`);
  }
  if (others.length > 0) {
    parts.push(others.map((result) => `${result.provider}: ${words(result)}. ${result.advice}`).join('\n'));
  }
  return parts.join('\n\n');
}
