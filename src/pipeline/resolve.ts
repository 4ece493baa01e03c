/** Stage 3: what the model id stands for (contract 5, checks 10 and 11). A pin that cannot be met is an error, never another route. */
import { isAliasName } from '../accounts/aliases/alias-name.js';
import { findModel, findRoute } from '../catalogue/lookup.js';
import { idExcerpt, parseModelId } from '../catalogue/model-id.js';
import type { Snapshot } from '../catalogue/route.js';
import { gatewayError } from '../errors/gateway-error.js';
import type { Account } from '../storage/records.js';
import type { Plan } from './handover.js';

/** Plans of ids that do not depend on the account, by snapshot: the same few ids come again and again. */
const plansBySnapshot = new WeakMap<Snapshot, Map<string, Plan>>();
const plansMax = 10_000;

export function resolve(snapshot: Snapshot, account: Account, id: string): Plan {
  const known = plansBySnapshot.get(snapshot)?.get(id);
  if (known) return known;
  const parsed = parseModelId(id);
  switch (parsed.kind) {
    case 'explicit':
      return remember(snapshot, id, { alias: null, kind: 'pin', routes: [findRoute(snapshot, parsed)] });
    case 'auto':
      return remember(snapshot, id, {
        alias: null,
        kind: 'auto',
        routes: findModel(snapshot, parsed.creator, parsed.model).routes,
      });
    case 'alias':
      return resolveAlias(snapshot, account, parsed.name);
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

function resolveAlias(snapshot: Snapshot, account: Account, name: string): Plan {
  if (!isAliasName(name)) throw gatewayError('invalid_alias_name', { name: idExcerpt(name), param: 'model' });
  const alias = account.aliases.get(name);
  if (!alias) throw gatewayError('alias_not_found', { name, param: 'model' });
  const [creator = '', model = ''] = alias.canonicalId.split('/');
  if (alias.provider === 'auto')
    return { alias: name, kind: 'auto', routes: findModel(snapshot, creator, model).routes };
  const { provider, locode } = alias;
  return {
    alias: name,
    kind: 'pin',
    routes: [findRoute(snapshot, { kind: 'explicit', provider, creator, model, locode })],
  };
}
