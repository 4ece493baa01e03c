/** Stage 8: the record of the request goes into the journal, and its cost out of the balance, before the last byte leaves. */
import type { Route } from '../catalogue/route.js';
import type { AttemptRecord, Generation, StreamEnd } from '../domain/generation.js';
import type { GatewayError } from '../errors/gateway-error.js';
import type { Billed, Exchange, PipelinePorts, Trail } from './handover.js';
import { keptError } from './settle/kept-error.js';

export interface Settlement {
  status: number;
  route: Route | null;
  /** null = nothing was delivered, so nothing is billed. */
  billed: Billed | null;
  finishReason: string | null;
  streamEnd: StreamEnd | null;
  fallbackOccurred: boolean;
  error: GatewayError | null;
  errorCode?: string;
  /** What a provisional record has taken off the balance in memory already. */
  chargedPico?: bigint;
}

type SettlePorts = Pick<PipelinePorts, 'clock' | 'directory' | 'journal' | 'holds' | 'fleet'>;

/** While the store is away, an answer near a used-up balance waits this long for it, and no longer. */
const confirmMs = 500;

/** `thenSend` sends what is left of the answer; it is called as soon as the record is in the journal's file. */
export function settle(
  ports: SettlePorts,
  exchange: Exchange,
  trail: Trail,
  settlement: Settlement,
  thenSend?: () => void,
): void {
  const { billed, route } = settlement;
  const { chargedPico = 0n } = settlement;
  const costPico = billed?.costPico ?? 0n;
  if (costPico !== chargedPico)
    ports.directory.charge(exchange.identity.account.id, costPico, exchange.generationId, chargedPico);
  if (billed) exchange.reservation.correct(billed.usage.promptTokens + billed.usage.completionTokens);
  // Counted without a quota, too: a reload of the catalogue may bring one, and the day's tokens are then used already.
  if (billed && route) {
    ports.holds.used(route, billed.usage.promptTokens + billed.usage.completionTokens, exchange.createdAt);
  }
  const record = recordOf(ports, exchange, trail, settlement);
  ports.journal.append(record, thenSend && inFleet(ports, exchange, settlement, thenSend));
}

/**
 * What a stream owes so far, for the case that this process dies before its end. Where the caller has left, the balance in memory
 * follows at once, because nothing more will be delivered.
 */
export function settleProvisionally(
  ports: SettlePorts,
  exchange: Exchange,
  trail: Trail,
  settlement: Settlement & { billed: Billed },
): void {
  const { billed, streamEnd, chargedPico = 0n } = settlement;
  const record = recordOf(ports, exchange, { ...trail, attempts: [] }, settlement);
  ports.journal.appendProvisional({ ...record, attempts: trail.attempts.map(servingAttempt) });
  if (streamEnd === 'client_closed')
    ports.directory.charge(exchange.identity.account.id, billed.costPico, exchange.generationId, chargedPico);
}

/** Without the words of providers, which would have to be searched for the prompt. */
function servingAttempt(attempt: AttemptRecord): AttemptRecord {
  return { ...attempt, outcome: attempt.outcome || 'served', error: null };
}

/**
 * In a fleet a balance may be used up by answers of several processes together. Near that point the last byte waits until the
 * store has the sum and the others know, so that whoever has his answer finds the new balance everywhere.
 */
function inFleet(
  { fleet, journal }: SettlePorts,
  { identity: { account } }: Exchange,
  { billed }: Settlement,
  thenSend: () => void,
): () => void {
  if (!fleet || !billed || billed.costPico === 0n || !fleet.nearZero(account, billed.costPico)) return thenSend;
  return () => void journal.settled(confirmMs).then(thenSend);
}

function recordOf(ports: SettlePorts, exchange: Exchange, trail: Trail, settlement: Settlement): Generation {
  const { identity, request } = exchange;
  const { route, billed, error } = settlement;
  return {
    id: exchange.generationId,
    requestId: exchange.requestId,
    accountId: identity.account.id,
    keyId: identity.key.id,
    keyName: identity.key.name,
    createdAt: exchange.createdAt,
    requestedModel: request.model,
    servedModel: route?.id ?? null,
    provider: route?.provider.id ?? null,
    locode: route?.locode ?? null,
    streamed: request.stream,
    status: settlement.status,
    promptTokens: billed?.usage.promptTokens ?? 0,
    completionTokens: billed?.usage.completionTokens ?? 0,
    cachedTokens: billed?.usage.cachedTokens ?? 0,
    reasoningTokens: billed?.usage.reasoningTokens ?? 0,
    costPico: billed?.costPico ?? 0n,
    billed: billed !== null,
    latencyMs: Math.round(ports.clock.monotonicMs() - exchange.startedAtMs),
    firstByteMs: trail.attempts.at(-1)?.first_byte_ms ?? null,
    providersAttempted: trail.providersAttempted,
    fallbackOccurred: settlement.fallbackOccurred,
    finishReason: settlement.finishReason,
    streamEnd: settlement.streamEnd,
    usageSource: billed?.source ?? null,
    errorCode: settlement.errorCode ?? error?.row.code ?? null,
    attempts: keptAttempts(trail.attempts, request),
  };
}

function keptAttempts(attempts: readonly AttemptRecord[], request: Exchange['request']): AttemptRecord[] {
  return attempts.map((attempt) =>
    attempt.error === null ? attempt : { ...attempt, error: keptError(attempt.error, request) },
  );
}
