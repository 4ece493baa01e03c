/** `GET policy/gates` describes the gates; `POST policy/preview` counts the routes of a model that a draft policy leaves. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { noSuchProject } from '../../accounts/projects/projects.js';
import { reaches } from '../../accounts/roles.js';
import { findModel } from '../../catalogue/lookup.js';
import type { PriceMoment } from '../../catalogue/price-moment.js';
import type { Model, Route, Snapshot } from '../../catalogue/route.js';
import { envelopeOf } from '../../errors/envelope.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { applyGates, projectPrefix, removalText } from '../../policy/apply-gates.js';
import { counterfactuals } from '../../policy/counterfactuals.js';
import { gates } from '../../policy/gates/index.js';
import { readPolicy, readProjectPolicy } from '../../policy/policy.js';
import type { GateSettings } from '../../policy/routing-policy.js';
import { bodyFields } from '../admin/fields.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { projectNamed } from '../projects/project-records.js';
import { standingOf } from '../rights.js';
import { whyNot } from './catalogue.js';

const draft = z.strictObject({
  /** Empty = all models. */
  model: z.string('must be a model, like "meta/llama-3.3-70b", or empty for all models'),
  policy: z.record(z.string(), z.unknown(), 'must be a routing policy'),
  /** The policy is that of a project with this id: then the account's holds too. */
  project: z.string('must be the id of a project').optional(),
});

export function registerPolicyPreview(app: FastifyInstance, deps: HttpDeps): void {
  const { catalogue, clock } = deps;
  app.get('/policy/gates', async () => ({ data: gates.map(({ name, card }) => ({ name, ...card })) }));
  app.post('/policy/preview', async (request) => {
    const { model: id, policy: fields, project } = bodyFields(request, draft);
    if (!catalogue.current) throw gatewayError('service_unavailable');
    const account = accountOf(request);
    if (project !== undefined && !reaches(standingOf(request), projectNamed(account, project).id))
      throw noSuchProject(project);
    const isServable = (route: Route) => whyNot(deps, request, route) === null;
    const policies =
      project === undefined
        ? { policy: readPolicy(fields), isServable }
        : { outer: account.policy, policy: readProjectPolicy(fields), isServable };
    // A short prompt, now.
    const moment = { atMs: clock.now(), promptTokens: 0 };
    if (id === '') return previewOfAll(policies, catalogue.current, moment);
    const [creator = '', name = ''] = id.replace(/^auto\//, '').split('/');
    return previewOfOne(policies, findModel(catalogue.current, creator, name), moment);
  });
}

interface Policies {
  /** The account's, where the draft is a project's. */
  readonly outer?: GateSettings;
  readonly policy: GateSettings;
  readonly isServable: (route: Route) => boolean;
}

function previewOfOne(policies: Policies, { canonicalId, routes }: Model, moment: PriceMoment) {
  const { outer, policy } = policies;
  const { within, ...counts } = countsOf(policies, routes, moment);
  const { eligible, removed: own } = applyGates(policy, within, moment, outer ? projectPrefix : '');
  const removed = [...(outer ? applyGates(outer, routes, moment).removed : []), ...own];
  const exhausted = eligible.length === 0 && removed.length > 0;
  const refusal = gatewayError('routing_policy_exhausted', {
    id: `auto/${canonicalId}`,
    gates: removalText(removed),
    param: 'model',
  });
  return {
    ...{ model: canonicalId, ...counts, left: eligible.length },
    available: eligible.filter(policies.isServable).length,
    eligible: eligible.map((route) => route.id),
    removed: removed.map(({ route, gate }) => ({ id: route.id, gate })),
    error: exhausted ? envelopeOf(refusal).error : null,
    counterfactuals: counterfactuals(policy, within, moment),
  };
}

/** Over every model that has routes: how many are left, and which models would be refused. */
function previewOfAll(policies: Policies, { models }: Snapshot, moment: PriceMoment) {
  const all = [...models.values()].filter(({ routes }) => routes.length > 0);
  const { within, ...counts } = countsOf(
    policies,
    all.flatMap(({ routes }) => routes),
    moment,
  );
  const { eligible } = applyGates(policies.policy, within, moment);
  const served = new Set(eligible.map(({ model }) => model.canonicalId));
  return {
    ...{ model: '', ...counts, left: eligible.length },
    available: eligible.filter(policies.isServable).length,
    ...{ eligible: [], removed: [], error: null, counterfactuals: [] },
    models: all.length,
    refused_models: all.filter(({ canonicalId }) => !served.has(canonicalId)).map(({ canonicalId }) => canonicalId),
  };
}

/** The counts of the draft's gates, after those of the account where the draft is a project's; `within` are the routes that these leave. */
function countsOf({ outer, policy }: Policies, routes: readonly Route[], moment: PriceMoment) {
  const within = outer ? applyGates(outer, routes, moment).eligible : routes;
  return {
    ...{ total: routes.length, within, gates: gateCounts(policy, within, moment) },
    ...(outer && { account_gates: gateCounts(outer, routes, moment) }),
  };
}

const isOff = (kind: string, active: boolean) => kind === 'switch' && !active;

/** In the order of the gates. Each route counts at the first gate that removes it, as in the 403. */
function gateCounts(policy: GateSettings, routes: readonly Route[], moment: PriceMoment) {
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
