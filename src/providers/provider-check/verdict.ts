/** Turns the outcome of a check into a verdict and advice. It never shows a credential. */
import { durationText } from '../../base/time.js';
import type { Provider, Route } from '../../catalogue/route.js';
import type { Failure } from '../classify/failure.js';
import { dialectOf } from '../dialects/registry.js';
import { addressOf } from '../transport/upstream-address.js';
import type { ProbeOutcome } from './probe.js';

type Verdict =
  | 'ok'
  | 'not_configured'
  | 'no_route'
  | 'no_credential'
  | 'credential_refused'
  | 'name_not_found'
  | 'unreachable'
  | 'tls'
  | 'timeout'
  | 'unknown_model'
  | 'billing'
  | 'quota'
  | 'rate_limit'
  | 'capacity'
  | 'not_the_protocol'
  | 'rejected'
  | 'server_error';

export interface CheckResult {
  provider: string;
  verdict: Verdict;
  /** The id of the called route; null where none was called. */
  route: string | null;
  status: number | null;
  latency_ms: number | null;
  /** The provider's own message, masked; null where there is none. */
  said: string | null;
  /** What to do; empty where the check passed. */
  advice: string;
  /** Which of several keys of the provider was used. */
  key?: string;
}

const dnsCode = /^(ENOTFOUND|EAI_)/;
const tlsCode =
  /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|UNABLE_TO_|UNABLE_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_CA)/;

const verdictOfMeaning: Record<Failure['meaning'], Verdict> = {
  auth: 'credential_refused',
  unknown_model: 'unknown_model',
  billing: 'billing',
  quota: 'quota',
  rate_limit: 'rate_limit',
  capacity: 'capacity',
  malformed: 'not_the_protocol',
  pricing_fault: 'not_the_protocol',
  rejected: 'rejected',
  server_error: 'server_error',
  timeout: 'timeout',
  connection: 'unreachable',
};

function verdictOf({ meaning, status }: Failure, code: string): Verdict {
  if (meaning === 'connection' && dnsCode.test(code)) return 'name_not_found';
  if (meaning === 'connection' && tlsCode.test(code)) return 'tls';
  if (meaning === 'connection' && /^HPE_|PROTOCOL|PARSE/.test(code)) return 'not_the_protocol';
  // An HTML page with this status comes from another service.
  if (meaning === 'server_error' && (status === 404 || status === 405)) return 'not_the_protocol';
  return verdictOfMeaning[meaning];
}

interface CheckContext {
  /** Where the key comes from, in words for the operator. */
  readonly keySource: string;
  readonly timeoutMs: number;
}

export function resultOf(route: Route, outcome: ProbeOutcome, context: CheckContext): CheckResult {
  const base = { provider: route.provider.id, route: route.id, status: null, latency_ms: null, said: null };
  if (outcome.kind === 'answered') {
    return { ...base, verdict: 'ok', status: outcome.status, latency_ms: outcome.latencyMs, advice: '' };
  }
  if (outcome.kind === 'no_credential') {
    return { ...base, verdict: 'no_credential', said: outcome.reason, advice: noCredentialAdvice(route.provider) };
  }
  const { failure, code } = outcome;
  const verdict = verdictOf(failure, code);
  // Without an answer, the message would be the gateway's own.
  const said = failure.meaning === 'connection' || failure.meaning === 'timeout' ? null : failure.quote;
  return {
    ...base,
    verdict,
    status: failure.status,
    said,
    advice: adviceOn(verdict, route, code, context),
  };
}

function adviceOn(verdict: Verdict, route: Route, code: string, { keySource, timeoutMs }: CheckContext): string {
  const { host } = addressOf(route.baseUrl);
  const { id, dialect } = route.provider;
  switch (verdict) {
    case 'credential_refused':
      return `The provider refused ${keySource}. Check that it is current, and that it may use "${route.upstreamModel}".`;
    case 'name_not_found':
      return `The name in ${host} does not resolve (${code}). Check the address of ${id} and this machine's name service.`;
    case 'unreachable':
      return `There is no connection with ${host}${code && ` (${code})`}. Check the address of ${id}, and that a firewall lets it through.`;
    case 'tls':
      return `TLS with ${host} failed (${code}). Check the address; a certificate of your own proxy is trusted with NODE_EXTRA_CA_CERTS.`;
    case 'timeout':
      return `${host} gave no answer within ${durationText(timeoutMs)}. Try again, or with a longer --timeout.`;
    case 'unknown_model':
      return unknownModelAdvice(route);
    case 'billing':
      return 'The account at the provider has no credit left, or has reached its spending limit. Settle that with the provider.';
    case 'quota':
      return 'The daily quota at the provider is used up. Wait until midnight UTC, or ask the provider for a higher quota.';
    case 'rate_limit':
    case 'capacity':
      return 'The provider accepts no more calls at the moment. The credential was not refused. Try again later.';
    case 'not_the_protocol':
      return `${host} answered with something that is not the ${dialect} protocol. Check the base_url of ${id}.`;
    case 'rejected':
      return `The provider refused a minimal request. Check the upstream_model and the dialect of ${route.id}.`;
    default:
      return 'The provider failed. Try again later.';
  }
}

function unknownModelAdvice({ id, upstreamModel, provider }: Route): string {
  const known = `The provider does not know "${upstreamModel}", or does not serve it to this account.`;
  const advice = dialectOf(provider.dialect).unknownModelAdvice?.(id);
  return `${known} ${advice ?? `Correct upstream_model of ${id}, or its base_url.`}`;
}

/** Why a provider cannot be called at all, and which variable to set. */
export function notConfigured(provider: Provider): CheckResult {
  const { id } = provider;
  const base = { provider: id, route: null, status: null, latency_ms: null, said: null };
  return { ...base, verdict: 'not_configured', advice: missingAdvice(provider) };
}

export function noRoute({ id }: Provider): CheckResult {
  const base = { provider: id, route: null, status: null, latency_ms: null, said: null };
  return { ...base, verdict: 'no_route', advice: `The catalogue has no route of ${id} that could be called.` };
}

function missingAdvice(provider: Provider): string {
  const absent = provider.absentVariables ?? [];
  const address = absent.length > 0 ? `Set ${absent.join(' and ')}, which its address needs.` : '';
  const hasCredential = provider.apiKey !== null || provider.auth === 'none';
  return [address, hasCredential ? '' : noCredentialAdvice(provider)].filter(Boolean).join(' ');
}

function noCredentialAdvice({ id, auth, apiKeyEnv }: Provider): string {
  const own = `providers.${id}.api_key in the configuration`;
  const key = apiKeyEnv ? `${apiKeyEnv} or ${own}` : own;
  if (auth === 'aws')
    return `Set ${key}, or give AWS credentials (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or a role).`;
  if (auth === 'google')
    return 'Name a credentials file in GOOGLE_APPLICATION_CREDENTIALS, or run "gcloud auth application-default login".';
  return `Set ${key}.`;
}
