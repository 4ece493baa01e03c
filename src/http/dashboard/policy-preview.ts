/** `GET policy/gates` describes the gates; `POST policy/preview` counts the routes of a model that a draft policy leaves. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { findModel } from '../../catalogue/lookup.js';
import type { PriceMoment } from '../../catalogue/price-moment.js';
import type { Route, Snapshot } from '../../catalogue/route.js';
import { envelopeOf } from '../../errors/envelope.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { applyGates, removalText } from '../../policy/apply-gates.js';
import { counterfactuals } from '../../policy/counterfactuals.js';
import { gates } from '../../policy/gates/index.js';
import { readPolicy } from '../../policy/policy.js';
import type { RoutingPolicy } from '../../policy/routing-policy.js';
import { bodyFields } from '../admin/fields.js';
import type { HttpDeps } from '../deps.js';

const draft = z.strictObject({
  /** Empty = all models. */
  model: z.string('must be a model, like "meta/llama-3.3-70b", or empty for all models'),
  policy: z.record(z.string(), z.unknown(), 'must be a routing policy'),
});

export function registerPolicyPreview(app: FastifyInstance, { catalogue, clock }: HttpDeps): void {
  app.get('/policy/gates', async () => ({ data: gates.map(({ name, card }) => ({ name, ...card })) }));
  app.post('/policy/preview', async (request) => {
    const { model: id, policy: fields } = bodyFields(request, draft);
    const policy = readPolicy(fields);
    if (!catalogue.current) throw gatewayError('service_unavailable');
    // A short prompt, now.
    const moment = { atMs: clock.now(), promptTokens: 0 };
    if (id === '') return previewOfAll(policy, catalogue.current, moment);
    const [creator = '', name = ''] = id.replace(/^auto\//, '').split('/');
    const model = findModel(catalogue.current, creator, name);
    const { eligible, removed } = applyGates(policy, model.routes, moment);
    const exhausted = eligible.length === 0 && removed.length > 0;
    const refusal = gatewayError('routing_policy_exhausted', {
      id: `auto/${model.canonicalId}`,
      gates: removalText(removed),
      param: 'model',
    });
    return {
      model: model.canonicalId,
      total: model.routes.length,
      left: eligible.length,
      gates: gateCounts(policy, model.routes, moment),
      eligible: eligible.map((route) => route.id),
      removed: removed.map(({ route, gate }) => ({ id: route.id, gate })),
      error: exhausted ? envelopeOf(refusal).error : null,
      counterfactuals: counterfactuals(policy, model.routes, moment),
    };
  });
}

/** Over every model that has routes: how many are left, and which models would be refused. */
function previewOfAll(policy: RoutingPolicy, { models }: Snapshot, moment: PriceMoment) {
  const routes = [...models.values()].flatMap((model) => model.routes);
  const { eligible } = applyGates(policy, routes, moment);
  const served = new Set(eligible.map(({ model }) => model.canonicalId));
  const refused = [...models.values()].filter((model) => model.routes.length > 0 && !served.has(model.canonicalId));
  return {
    ...{ model: '', total: routes.length, left: eligible.length, gates: gateCounts(policy, routes, moment) },
    ...{ eligible: [], removed: [], error: null, counterfactuals: [] },
    models: models.size,
    refused_models: refused.map(({ canonicalId }) => canonicalId),
  };
}

const isOff = (kind: string, active: boolean) => kind === 'switch' && !active;

/** In the order of the gates. Each route counts at the first gate that removes it, as in the 403. */
function gateCounts(policy: RoutingPolicy, routes: readonly Route[], moment: PriceMoment) {
  let left = routes;
  return gates.map((gate) => {
    const setting = policy[gate.name];
    const active = gate.isSet(setting);
    const routesLeft = (among: readonly Route[]) =>
      active ? among.filter((route) => gate.permits(route, setting, moment)) : among;
    const before = left.length;
    left = routesLeft(left);
    return {
      gate: gate.name,
      active,
      removes: before - left.length,
      leaves: left.length,
      alone_leaves: routesLeft(routes).length,
      // A switch that is off: what would be left of the present routes if it were on.
      on_leaves: isOff(gate.card.control.kind, active)
        ? left.filter((route) => gate.permits(route, true as never, moment)).length
        : null,
    };
  });
}
