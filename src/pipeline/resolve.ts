/** Stage 3: what a model id and its fallback chain stand for. A pin that cannot be met is an error, never another route. */
import { isAliasName } from '../accounts/aliases/alias-name.js';
import { checkChain, kindRefusal } from '../accounts/fallback/check-chain.js';
import { andThen, type MaybePromise } from '../base/turn.js';
import { findModel, findRoute } from '../catalogue/lookup.js';
import { idExcerpt, parseModelId } from '../catalogue/model-id.js';
import type { ModelKind, Snapshot } from '../catalogue/route.js';
import { shortIdOf } from '../catalogue/short-id.js';
import type { Account, Identity } from '../domain/account.js';
import { usableIn } from '../domain/credential.js';
import type { Door } from '../doors/door.js';
import { GatewayError, gatewayError } from '../errors/gateway-error.js';
import type { ChatRequest } from '../wire/chat-request.js';
import type { Plan } from './handover.js';
import type { PipelinePorts } from './ports.js';

/** Plans of ids that do not depend on the account, by snapshot: most requests ask for the same few ids. */
const plansBySnapshot = new WeakMap<Snapshot, Map<string, Plan>>();
const plansMax = 10_000;

function resolve(snapshot: Snapshot, account: Account, id: string): Plan {
  const known = plansBySnapshot.get(snapshot)?.get(id);
  if (known) return known;
  const parsed = parseModelId(id);
  switch (parsed.kind) {
    case 'explicit':
      return remember(snapshot, id, {
        id,
        alias: null,
        name: null,
        kind: 'pin',
        routes: [findRoute(snapshot, parsed)],
        hasOwn: false,
      });
    case 'auto': {
      const { routes } = findModel(snapshot, parsed.creator, parsed.model);
      return remember(snapshot, id, { id, alias: null, name: null, kind: 'auto', routes, hasOwn: false });
    }
    case 'alias':
      return resolveAlias(snapshot, account, id, parsed.name);
    case 'invalid': {
      const short = shortIdOf(snapshot, id);
      if (short) {
        const { routes } = findModel(snapshot, short.creator, short.model);
        return remember(snapshot, id, { id, alias: null, name: null, kind: 'auto', routes, hasOwn: false });
      }
      throw gatewayError('model_id_shape', { id: idExcerpt(id), reason: parsed.reason });
    }
  }
}

/** What a request asks for: an id, or a name of the operator in front of one. */
export function resolveRequested(
  snapshot: Snapshot,
  account: Account,
  { model, name }: Pick<ChatRequest, 'model' | 'name'>,
): Plan {
  if (name === undefined) return resolve(snapshot, account, model);
  const { kind, routes } = resolve(snapshot, account, name.target);
  return { id: model, alias: null, name: model, kind, routes, hasOwn: false };
}

/** Only ids of the catalogue resolve, in any case of their locode, so there are not many. */
function remember(snapshot: Snapshot, id: string, plan: Plan): Plan {
  const plans = plansBySnapshot.get(snapshot) ?? new Map<string, Plan>();
  if (plans.size < plansMax) plansBySnapshot.set(snapshot, plans.set(id, plan));
  return plan;
}

function resolveAlias(snapshot: Snapshot, account: Account, id: string, name: string): Plan {
  if (!isAliasName(name)) throw gatewayError('invalid_alias_name', { name: idExcerpt(name), param: 'model' });
  const alias = account.aliases.get(name);
  if (!alias) throw gatewayError('alias_not_found', { name, param: 'model' });
  const [creator = '', model = ''] = alias.canonicalId.split('/');
  if (alias.provider === 'auto') {
    const { routes } = findModel(snapshot, creator, model);
    return { id, alias: name, name: null, kind: 'auto', routes, hasOwn: false };
  }
  const { provider, locode } = alias;
  const route = findRoute(snapshot, { kind: 'explicit', provider, creator, model, locode });
  // The list of its id, because what is worked out for a list of routes is kept with it.
  const { routes } = resolve(snapshot, account, route.id);
  return { id, alias: name, name: null, kind: 'pin', routes, hasOwn: false };
}

const servedAt: Record<ModelKind, string> = {
  chat: '/v1/chat/completions, /v1/messages and /v1/responses',
  embedding: '/v1/embeddings',
  rerank: '/v1/rerank',
};

/** Refuses a model at a door that does not serve models of its kind. */
export function checkKind(door: Pick<Door, 'kind'>, { id, routes: [first] }: Plan): void {
  const kind = first?.model.kind ?? 'chat';
  if (kind !== door.kind) throw gatewayError('model_kind', { id, kind, doors: servedAt[kind] });
}

const noChain: readonly Plan[] = [];

/**
 * The chain of a request that does not use the saved one: its own, that of its name, or none where it is no chat; null where the saved one
 * applies. Vectors and scores of two models cannot be compared, so the chain of such a request has other routes of the same model only.
 */
export function resolveOwnChain(
  ports: Pick<PipelinePorts, 'modelStates'>,
  snapshot: Snapshot,
  { identity, request }: { identity: Identity; request: Pick<ChatRequest, 'fallback' | 'task' | 'name'> },
  plan: Plan,
): readonly Plan[] | null {
  const { account } = identity;
  const { fallback, task, name } = request;
  const model = plan.routes[0]?.model;
  if (fallback === null) {
    if (name !== undefined && name.fallback !== null) {
      const entries = resolveServed(snapshot, account, name.fallback);
      return task === undefined ? entries : entries.filter(({ routes }) => routes[0]?.model === model);
    }
    return task === undefined ? null : noChain;
  }
  const chain = resolveSentChain(ports, snapshot, identity, fallback);
  for (const { id, routes } of chain) {
    const entry = routes[0]?.model;
    const reason = task === undefined ? kindRefusal(entry) : entry === model ? null : otherModel;
    if (reason !== null) throw gatewayError('invalid_fallback_model', { id: idExcerpt(id), reason });
  }
  return chain;
}

const otherModel =
  'it is another model, and the answers of two models cannot be compared. Name a route of the same model.';

/** Checks and resolves the chain that the request carries. It replaces the saved one; `[]` switches that off. */
function resolveSentChain(
  ports: Pick<PipelinePorts, 'modelStates'>,
  snapshot: Snapshot,
  { account, project }: Identity,
  sent: readonly string[],
): readonly Plan[] {
  if (sent.length === 0) return noChain;
  const { aliases, credentials } = account;
  checkChain(sent, { aliases, credentials: usableIn(project.id, credentials) }, snapshot, ports.modelStates);
  return sent.map((id) => resolve(snapshot, account, id));
}

/** The saved chain, without an alias that was given a model of another kind since. */
export function resolveSavedChain(snapshot: Snapshot, account: Account): readonly Plan[] {
  if (account.fallback.length === 0) return noChain;
  const entries = resolveServed(snapshot, account, account.fallback);
  return entries.filter(({ routes }) => kindRefusal(routes[0]?.model) === null);
}

/** Resolves a chain that was checked when it was stored. An entry that was withdrawn since is skipped, and fails no request. */
function resolveServed(snapshot: Snapshot, account: Account, chain: readonly string[]): readonly Plan[] {
  return chain.flatMap((id) => {
    try {
      return [resolve(snapshot, account, id)];
    } catch (error) {
      if (error instanceof GatewayError) return [];
      throw error;
    }
  });
}

interface EntryFailure {
  readonly kind: 'failed';
  readonly error: GatewayError;
}

/**
 * Enters the requested id and then, entry by entry, its fallback chain. The real walk and its explanation share it, so that the two
 * cannot differ.
 */
export function alongChain<Outcome extends { kind: string }>(
  primary: Plan,
  chain: readonly Plan[],
  enter: (plan: Plan, chainIndex: number) => MaybePromise<Outcome | EntryFailure>,
): MaybePromise<Outcome | EntryFailure> {
  return andThen(enter(primary, 0), (outcome) =>
    isFailure(outcome) && continuesAfter(outcome.error) ? alongEntries(outcome, chain, enter) : outcome,
  );
}

async function alongEntries<Outcome extends { kind: string }>(
  failed: EntryFailure,
  entries: readonly Plan[],
  enter: (plan: Plan, chainIndex: number) => MaybePromise<Outcome | EntryFailure>,
): Promise<Outcome | EntryFailure> {
  let outcome: Outcome | EntryFailure = failed;
  let chainIndex = 0;
  for (const entry of entries) {
    const entered = await enter(entry, ++chainIndex);
    if (isFailure(entered) && isPassedOver(entered.error)) continue;
    outcome = entered;
    if (!isFailure(entered) || !continuesAfter(entered.error)) return entered;
  }
  return outcome;
}

function isFailure(outcome: { kind: string }): outcome is EntryFailure {
  return outcome.kind === 'failed';
}

/** A chain goes on after a 503 or 504, never after a 4xx. An answer that is too large would be as large, and as dear, elsewhere. */
function continuesAfter({ status, condition }: GatewayError): boolean {
  return (status === 503 || status === 504) && condition !== 'answer_too_large';
}

/**
 * An entry that was stopped before any upstream was called (policy, territory, a withdrawn model, a parameter that none of its
 * routes can apply) is not the failure that the caller sees. A rejection by an upstream is: it stops the chain.
 */
function isPassedOver({ status, condition }: GatewayError): boolean {
  return status < 500 && condition !== 'upstream_rejected';
}
