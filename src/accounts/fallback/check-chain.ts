/**
 * Checks that each entry of a fallback chain exists and is served, before a chain is saved and before a chat request that
 * brings one. Entries that pass are cached, because the same few ids come again and again.
 */
import { findModel, findRoute } from '../../catalogue/lookup.js';
import { idExcerpt, parseModelId } from '../../catalogue/model-id.js';
import type { Model, ModelAvailability, Route, Snapshot } from '../../catalogue/route.js';
import { shortIdOf } from '../../catalogue/short-id.js';
import type { Account } from '../../domain/account.js';
import { isServedBy } from '../../domain/credential.js';
import { GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { isAliasName } from '../aliases/alias-name.js';
import { targetModelId } from '../aliases/alias-target.js';

/** Tells which models the operator has disabled. `health` implements it. */
export interface ModelStateReader {
  get(canonicalId: string): ModelAvailability;
}

/** Whose names and credentials a chain may use. */
type ChainOwner = Pick<Account, 'aliases' | 'credentials'>;

/** Served ids with the models that they stand for, by snapshot. */
const servedBySnapshot = new WeakMap<Snapshot, Map<string, string>>();
/** The catalogue has fewer ids; only different cases of their locodes can exceed this. */
const servedMax = 10_000;

/**
 * Throws invalid_fallback_model (400) for the first entry that is unknown or not served. Temporary states are no fault: a
 * held route, an open breaker, a soft-disabled model.
 */
export function checkChain(
  entries: readonly string[],
  account: ChainOwner,
  snapshot: Snapshot,
  modelStates: ModelStateReader,
): void {
  const served = servedOf(snapshot);
  for (const entry of entries) {
    const known = served.get(entry);
    if (known !== undefined && modelStates.get(known).state !== 'disabled') continue;
    const { canonicalId, isOwn } = servedModel(entry, account, snapshot, modelStates);
    if (!isOwn && !entry.startsWith('alias/') && served.size < servedMax) served.set(entry, canonicalId);
  }
}

/** Why a model cannot be an entry of a chat request's chain; null where it can. */
export function kindRefusal(model: Model | undefined): string | null {
  const kind = model?.kind ?? 'chat';
  return kind === 'chat' ? null : `it is of the kind ${kind}, and cannot answer a chat request.`;
}

/** Throws invalid_fallback_model for the first entry that cannot answer a chat request. The entries have passed `checkChain`. */
export function checkChatChain(entries: readonly string[], account: ChainOwner, snapshot: Snapshot): void {
  for (const entry of entries) {
    const reason = kindRefusal(resolveEntry(entry, account, snapshot)[0]?.model);
    if (reason !== null) throw gatewayError('invalid_fallback_model', { id: idExcerpt(entry), reason });
  }
}

function servedOf(snapshot: Snapshot): Map<string, string> {
  const known = servedBySnapshot.get(snapshot);
  if (known) return known;
  const served = new Map<string, string>();
  servedBySnapshot.set(snapshot, served);
  return served;
}

interface ServedModel {
  readonly canonicalId: string;
  /** A credential of the account serves it, which other accounts do not have. */
  readonly isOwn: boolean;
}

function servedModel(
  entry: string,
  account: ChainOwner,
  snapshot: Snapshot,
  modelStates: ModelStateReader,
): ServedModel {
  const refused = (reason: string) => gatewayError('invalid_fallback_model', { id: idExcerpt(entry), reason });
  const routes = routesOf(entry, account, snapshot, refused);
  const isPaid = ({ provider, price }: Route) => provider.configured && price !== null;
  const isOwn = (each: Route) => each.price !== null && isServedBy(account.credentials, each);
  const route = routes.find(isPaid) ?? routes.find(isOwn) ?? routes[0];
  if (!route) throw refused('the model has no routes.');
  const { canonicalId } = route.model;
  if (modelStates.get(canonicalId).state === 'disabled') {
    throw refused(gatewayError('model_not_found', { id: entry }).message);
  }
  if (isPaid(route)) return { canonicalId, isOwn: false };
  if (isOwn(route)) return { canonicalId, isOwn: true };
  const { provider, id } = route;
  if (routes.length > 1) throw refused('none of its routes has both a configured provider and a published price.');
  const obstacle = provider.configured
    ? gatewayError('route_unpriced', { id })
    : gatewayError('provider_not_configured', { provider: provider.id });
  throw refused(obstacle.message);
}

type Refused = (reason: string) => GatewayError;

/** Resolves an entry like the router does, or returns the router's own reason why it cannot. */
function routesOf(entry: string, account: ChainOwner, snapshot: Snapshot, refused: Refused): readonly Route[] {
  try {
    return resolveEntry(entry, account, snapshot);
  } catch (error) {
    throw error instanceof GatewayError ? refused(error.message) : error;
  }
}

function resolveEntry(entry: string, account: ChainOwner, snapshot: Snapshot): readonly Route[] {
  const id = parseModelId(entry);
  switch (id.kind) {
    case 'explicit':
      return [findRoute(snapshot, id)];
    case 'auto':
      return findModel(snapshot, id.creator, id.model).routes;
    case 'alias':
      return resolveEntry(aliasTarget(id.name, account), account, snapshot);
    case 'invalid': {
      const short = shortIdOf(snapshot, entry);
      if (short) return findModel(snapshot, short.creator, short.model).routes;
      throw gatewayError('model_id_shape', { id: idExcerpt(entry), reason: id.reason });
    }
  }
}

function aliasTarget(name: string, account: ChainOwner): string {
  const param = 'fallback.models';
  if (!isAliasName(name)) throw gatewayError('invalid_alias_name', { name: idExcerpt(name), param });
  const alias = account.aliases.get(name);
  if (!alias) throw gatewayError('alias_not_found', { name, param });
  return targetModelId(alias);
}
