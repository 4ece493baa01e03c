/** `GET policy/gates` describes the gates; `POST policy/preview` counts the routes of a model that a draft policy leaves. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { findModel } from '../../catalogue/lookup.js';
import type { PriceMoment } from '../../catalogue/price-moment.js';
import type { Route } from '../../catalogue/route.js';
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
  model: z.string('must be a model, like "meta/llama-3.3-70b"'),
  policy: z.record(z.string(), z.unknown(), 'must be a routing policy'),
});

export function registerPolicyPreview(app: FastifyInstance, { catalogue, clock }: HttpDeps): void {
  app.get('/policy/gates', async () => ({ data: gates.map(({ name, card }) => ({ name, ...card })) }));
  app.post('/policy/preview', async (request) => {
    const { model: id, policy: fields } = bodyFields(request, draft);
    const policy = readPolicy(fields);
    if (!catalogue.current) throw gatewayError('service_unavailable');
    const [creator = '', name = ''] = id.replace(/^auto\//, '').split('/');
    const model = findModel(catalogue.current, creator, name);
    // A short prompt, now.
    const moment = { atMs: clock.now(), promptTokens: 0 };
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
    };
  });
}
