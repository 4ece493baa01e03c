/** Stage 3: what the model id stands for (contract 5, checks 10 to 12). A pin that cannot be met is an error, never another route. */
import { isAliasName } from '../accounts/aliases/alias-name.js';
import { checkChain } from '../accounts/fallback/check-chain.js';
import { findModel, findRoute } from '../catalogue/lookup.js';
import { idExcerpt, parseModelId } from '../catalogue/model-id.js';
import type { Snapshot } from '../catalogue/route.js';
import type { Account } from '../domain/account.js';
import { GatewayError, gatewayError } from '../errors/gateway-error.js';
import type { PipelinePorts, Plan } from './handover.js';

/** Plans of ids that do not depend on the account, by snapshot: the same few ids come again and again. */
const plansBySnapshot = new WeakMap<Snapshot, Map<string, Plan>>();
const plansMax = 10_000;

export function resolve(snapshot: Snapshot, account: Account, id: string): Plan {
  const known = plansBySnapshot.get(snapshot)?.get(id);
  if (known) return known;
  const parsed = parseModelId(id);
  switch (parsed.kind) {
    case 'explicit':
      return remember(snapshot, id, { id, alias: null, kind: 'pin', routes: [findRoute(snapshot, parsed)] });
    case 'auto': {
      const { routes } = findModel(snapshot, parsed.creator, parsed.model);
      return remember(snapshot, id, { id, alias: null, kind: 'auto', routes });
    }
    case 'alias':
      return resolveAlias(snapshot, account, id, parsed.name);
    case 'invalid':
      throw gatewayError('model_id_shape', { id: idExcerpt(id), reason: parsed.reason });
  }
}

/** Ids that resolve are those of the catalogue, but for the case of their locode; so there are not many. */
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
    return { id, alias: name, kind: 'auto', routes: findModel(snapshot, creator, model).routes };
  }
  const { provider, locode } = alias;
  const route = findRoute(snapshot, { kind: 'explicit', provider, creator, model, locode });
  return { id, alias: name, kind: 'pin', routes: [route] };
}

const noChain: readonly Plan[] = [];

/** The chain that the request itself carries, checked; it replaces the saved one, and `[]` switches that off. */
export function resolveSentChain(
  ports: Pick<PipelinePorts, 'modelStates'>,
  snapshot: Snapshot,
  account: Account,
  sent: readonly string[],
): readonly Plan[] {
  if (sent.length === 0) return noChain;
  checkChain(sent, account, snapshot, ports.modelStates);
  return sent.map((id) => resolve(snapshot, account, id));
}

/** The saved chain; what was withdrawn since it was saved is skipped and fails no request. */
export function resolveSavedChain(snapshot: Snapshot, account: Account): readonly Plan[] {
  if (account.fallback.length === 0) return noChain;
  return account.fallback.flatMap((id) => {
    try {
      return [resolve(snapshot, account, id)];
    } catch (error) {
      if (error instanceof GatewayError) return [];
      throw error;
    }
  });
}
