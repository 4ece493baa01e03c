/** Checks a customer's credential at a provider with one cheap call, as `lodestone provider check` does with the operator's. */
import type { OwnCandidateMaker } from '../accounts/credentials/own-candidates.js';
import { quoted } from '../base/quoted.js';
import type { Snapshot } from '../catalogue/route.js';
import { covers, type OwnCredential } from '../domain/credential.js';
import { gatewayError } from '../errors/gateway-error.js';
import type { OwnHealth } from '../health/own-health.js';
import { cheapestRoute, type ProbePorts, probe } from '../providers/provider-check/probe.js';
import { type CheckResult, noRoute, resultOf } from '../providers/provider-check/verdict.js';
import type { GatewayPorts } from './pipeline-ports.js';

const timeoutMs = 10_000;

export interface CheckPorts
  extends Pick<GatewayPorts, 'catalogue' | 'transportOf' | 'credentials' | 'deadlines' | 'clock'> {}

export async function checkCredential(
  ports: CheckPorts,
  candidates: OwnCandidateMaker<OwnHealth>,
  credential: OwnCredential,
): Promise<CheckResult> {
  const snapshot = ports.catalogue.current;
  if (!snapshot) throw gatewayError('service_unavailable');
  const provider = snapshot.providers.get(credential.provider);
  if (!provider) throw gatewayError('resource_not_found', { what: 'provider', id: credential.provider });
  const own = candidates.onlyOf(credential, [...snapshot.routes.values()].filter(isCoveredBy(credential)));
  const route = cheapestRoute({ routes: new Map(own.map((each) => [each.id, each])) }, provider);
  if (!route) return noRoute(provider);
  const { credentials, deadlines, clock } = ports;
  const probing: ProbePorts = { transport: ports.transportOf(route), credentials, deadlines, clock, timeoutMs };
  const beganAtMs = clock.monotonicMs();
  const keySource = `your credential ${quoted(credential.name)}`;
  const result = resultOf(route, await probe(probing, { route }), { keySource, timeoutMs });
  const said = result.said === null ? null : candidates.mask(route, result.said);
  if (result.verdict === 'ok') {
    candidates.health.succeeded(route.credential!, beganAtMs);
    candidates.note(route, null);
  } else if (result.verdict === 'credential_refused') {
    candidates.health.refuse(route.credential!);
    candidates.note(route, said ?? result.advice);
  }
  return { ...result, said };
}

function isCoveredBy(credential: OwnCredential) {
  return ({ provider, model }: NonNullable<ReturnType<Snapshot['routes']['get']>>): boolean =>
    provider.id === credential.provider && covers(credential, model.creator, model.model);
}
