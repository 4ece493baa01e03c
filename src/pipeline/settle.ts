/** Stage 8: the record of the request goes into the journal, and its cost out of the balance, before the last byte leaves. */
import { canonicalDigest } from '../base/canonical-json.js';
import type { PicoUsd } from '../base/money.js';
import { catalogueDigest } from '../catalogue/digest.js';
import type { Snapshot } from '../catalogue/route.js';
import type { AttemptRecord, Generation, SkippedRoute } from '../domain/generation.js';
import { keyScopeGate, projectPrefix, type Removal, setGates } from '../policy/apply-gates.js';
import type { GateSettings, ProjectPolicy, RoutingPolicy } from '../policy/routing-policy.js';
import { leafHash } from '../proof/merkle.js';
import { digestCell, proofCell } from '../proof/proof-facts.js';
import { receiptText } from '../proof/receipt.js';
import type { Delivered, Exchange } from './handover.js';
import type { PipelinePorts } from './ports.js';
import { keptError } from './settle/kept-error.js';

type SettlePorts = Pick<PipelinePorts, 'clock' | 'directory' | 'journal' | 'holds' | 'fleet' | 'proof'>;

export function settle(
  ports: SettlePorts,
  exchange: Exchange,
  delivered: Delivered,
  attempts = keptAttempts(exchange),
): void {
  const { billed, route } = delivered;
  const { trail } = exchange;
  // Made first: where that fails, nothing has been charged for it.
  const record = recordOf(ports, exchange, delivered, attempts);
  charge(ports, exchange, billed?.cost.pico ?? 0n);
  if (billed) exchange.reservation.correct(billed.usage.promptTokens + billed.usage.completionTokens);
  // Given back, they would let a key send large prompts and leave without end, at the operator's expense.
  else if (delivered.leftRoute) exchange.reservation.keep();
  // Counted without a quota, too: a reload of the catalogue may bring one, and the day's tokens are then used already. The quota is the
  // operator's, so what a customer's own credential serves is no part of it.
  if (billed && route && route.credential === undefined) {
    ports.holds.used(route, billed.usage.promptTokens + billed.usage.completionTokens, exchange.createdAt);
  }
  ports.journal.append(record, sendWhenWritten(ports, exchange, delivered));
  trail.owed = null;
}

/** The balance in memory follows what the request costs, as far as that is known. */
function charge({ directory }: SettlePorts, { identity, generationId, trail }: Exchange, costPico: PicoUsd): void {
  if (costPico === trail.chargedPico) return;
  directory.identities.charge(identity.account.id, costPico, generationId, trail.chargedPico);
  trail.chargedPico = costPico;
}

/**
 * Records what a stream owes so far, for the case that this process dies before its end. Where the caller has left, the balance in
 * memory follows at once, because nothing more will be delivered.
 */
export function settleProvisionally(ports: SettlePorts, exchange: Exchange, delivered: Delivered): void {
  const { billed, streamEnd } = delivered;
  if (!billed || (billed.cost.notional ?? billed.cost).pico === 0n) return;
  const { trail } = exchange;
  ports.journal.appendProvisional(recordOf(ports, exchange, delivered, trail.attempts.map(servingAttempt)));
  trail.owed = delivered;
  if (streamEnd === 'client_closed') charge(ports, exchange, billed.cost.pico);
}

/**
 * Makes the last provisional record of a request final, where the request failed inside the gateway before its settlement. Text was
 * delivered, so it is billed; and a provisional record that nothing replaces keeps its file, and every later one, on the disk. Returns
 * what was settled; null where nothing was owed.
 */
export function settleOwed(ports: SettlePorts, exchange: Exchange): Delivered | null {
  const { owed, attempts } = exchange.trail;
  if (owed) settle(ports, exchange, owed, attempts.map(servingAttempt));
  return owed;
}

/** Without the provider's error text, which would have to be searched for the prompt. */
function servingAttempt(attempt: AttemptRecord): AttemptRecord {
  return { ...attempt, outcome: attempt.outcome || 'served', error: null };
}

/**
 * In a fleet a balance may be used up by answers of several processes together. Near that point the last byte waits until the
 * store has the sum and the others know, so that a caller that has its answer finds the new balance everywhere.
 */
function sendWhenWritten(
  { fleet, journal }: SettlePorts,
  { identity: { account } }: Exchange,
  { billed, send }: Delivered,
): (() => void) | undefined {
  if (!send) return undefined;
  if (!fleet || !billed || billed.cost.pico === 0n || !fleet.nearZero(account, billed.cost.pico)) return send;
  return () => void fleet.confirm(account.id, journal).then(send);
}

/** The leaf of a receipt that has no hash of its answer, base64; null while the log has not begun. */
export function leafOf(ports: SettlePorts, exchange: Exchange, delivered: Delivered): string | null {
  const log = ports.proof?.identity() ?? null;
  if (log === null) return null;
  const record = recordOf(ports, exchange, delivered, exchange.trail.attempts);
  return leafHash(receiptText(record, log)).toString('base64');
}

function recordOf(ports: SettlePorts, exchange: Exchange, delivered: Delivered, attempts: AttemptRecord[]): Generation {
  const { identity, request, trail } = exchange;
  const { route, billed } = delivered;
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
    status: delivered.status,
    promptTokens: billed?.usage.promptTokens ?? 0,
    completionTokens: billed?.usage.completionTokens ?? 0,
    cachedTokens: billed?.usage.cachedTokens ?? 0,
    reasoningTokens: billed?.usage.reasoningTokens ?? 0,
    costPico: billed?.cost.pico ?? 0n,
    billed: billed !== null,
    latencyMs: Math.round(ports.clock.monotonicMs() - exchange.startedAtMs),
    firstByteMs: firstByteMs(exchange),
    providersAttempted: trail.providersAttempted,
    fallbackOccurred: delivered.fallbackOccurred,
    finishReason: delivered.finishReason,
    streamEnd: delivered.streamEnd,
    usageSource: billed?.source ?? null,
    errorCode: delivered.errorCode,
    attempts,
    bill: billed?.cost ?? null,
    requestPolicy: exchange.preferences?.sent ?? null,
    door: exchange.door.name === 'chat' ? null : exchange.door.name,
    proof: ports.proof === null ? null : proofCellOf(exchange, delivered),
    projectId: identity.project.id,
    holderId: identity.key.holderId,
    credentialId: route?.credential?.id ?? null,
    credentialOwner: route?.credential?.owner ?? null,
    notionalPico: billed?.cost.notional?.pico ?? null,
    countedPico: countedPico(exchange, billed),
    endUser: exchange.endUser,
    skipped: keptSkipped(trail.skipped, route !== null),
  };
}

/** Where a route has served, that others are not set up or have no price is no news, and would be most of what a record holds. */
function keptSkipped(skipped: Generation['skipped'], isServed: boolean): SkippedRoute[] | null {
  if (!skipped || skipped.length === 0) return null;
  const kept = skipped.filter(({ reason }) => !isServed || (reason !== 'unconfigured' && reason !== 'unpriced'));
  return kept.length === 0 ? null : kept;
}

/** null where budgets, caps and keys count the cost. */
export function countedPico({ identity }: Exchange, billed: Delivered['billed']): PicoUsd | null {
  const notional = billed?.cost.notional;
  return notional !== undefined && identity.account.budgetsCountOwnKeys ? notional.pico : null;
}

/** From the request's arrival to the first byte for the caller; each attempt has the provider's. null where nothing was delivered. */
function firstByteMs({ trail: { answeredAtMs }, startedAtMs }: Exchange): number | null {
  return answeredAtMs === null ? null : Math.round(answeredAtMs - startedAtMs);
}

/** Without text of the prompt, which some providers quote. */
function keptAttempts({ trail: { attempts }, request }: Exchange): AttemptRecord[] {
  if (attempts.length === 1 && attempts[0]!.error === null) return attempts;
  return attempts.map((attempt) =>
    attempt.error === null ? attempt : { ...attempt, error: keptError(attempt.error, request) },
  );
}

const policyTexts = new WeakMap<GateSettings, string>();
const catalogueTexts = new WeakMap<Snapshot, string>();
const gateTexts = new WeakMap<RoutingPolicy, WeakMap<readonly Removal[], string>>();

function cachedText<Key extends WeakKey>(known: WeakMap<Key, string>, key: Key, make: (key: Key) => string): string {
  let text = known.get(key);
  if (text === undefined) {
    text = make(key);
    known.set(key, text);
  }
  return text;
}

function policyText(policy: RoutingPolicy | ProjectPolicy): string {
  return cachedText(policyTexts, policy, (document) => digestCell(canonicalDigest(document)));
}

/** What the record of a request keeps for its receipt. Runs for every request, so whatever it can is kept with the objects it is about. */
function proofCellOf(exchange: Exchange, { route, answerHash }: Delivered): string {
  return proofCell({
    policy: policyText(exchange.policy),
    projectPolicy: exchange.projectPolicy && policyText(exchange.projectPolicy),
    catalogue: cachedText(catalogueTexts, exchange.snapshot, (snapshot) => digestCell(catalogueDigest(snapshot))),
    gates: gatesText(exchange),
    route,
    requestHash: exchange.requestHash,
    answerHash,
  });
}

/** The gates of account and project leave a pin alone, as does an order of providers. */
function gatesText(exchange: Exchange): string {
  const { policy, projectPolicy, preferences } = exchange;
  const { plan, removed } = exchange.trail;
  if (plan === null || (plan.kind === 'pin' && preferences === null)) return '[]';
  const wishes = preferences?.gates.map(({ name }) => name) ?? [];
  if (plan.kind === 'pin')
    return textOf(
      wishes.filter((name) => name !== 'provider.allow_fallbacks'),
      removed,
    );
  const isScoped = exchange.identity.key.terms.allowedProviders !== null;
  const own = (): string[] => setGates(policy).map(({ name }) => name);
  // Without these three the list belongs to the policy alone, and is the same one for every request.
  if (preferences === null && !isScoped && projectPolicy === null)
    return cachedText(textsOf(policy), removed, () => textOf(own(), removed));
  const ofProject = projectPolicy ? setGates(projectPolicy).map(({ name }) => `${projectPrefix}${name}`) : [];
  return textOf([...(isScoped ? [keyScopeGate] : []), ...own(), ...ofProject, ...wishes], removed);
}

/** Lists of removals may be shared by policies, the empty one above all, and each policy has gates of its own. */
function textsOf(policy: RoutingPolicy): WeakMap<readonly Removal[], string> {
  let texts = gateTexts.get(policy);
  if (texts === undefined) {
    texts = new WeakMap();
    gateTexts.set(policy, texts);
  }
  return texts;
}

function textOf(names: readonly string[], removed: readonly Removal[]): string {
  const counted = names.map((name) => [name, removed.filter(({ gate }) => gate === name).length]);
  return JSON.stringify(counted);
}
