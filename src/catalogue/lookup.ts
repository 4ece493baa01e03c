/** Finds the route or model of an id, or throws the 404 that explains why there is none. */
import { gatewayError } from '../errors/gateway-error.js';
import type { Retirement } from './life.js';
import { type ExplicitId, idExcerpt } from './model-id.js';
import { modelRetirement } from './retirement.js';
import type { Model, Route, Snapshot } from './route.js';

const namesMax = 20;

/** The route of an explicit id; without a locode the provider's default for the model. */
export function findRoute(snapshot: Snapshot, id: ExplicitId): Route {
  const canonicalId = `${id.creator}/${id.model}`;
  const route = routeOf(snapshot, id);
  if (route) return route;
  const retired = retiredRoute(snapshot, id, canonicalId);
  if (retired?.life?.retires) {
    throw retiredError(
      `${id.provider}/${canonicalId}${id.locode === null ? '' : `/${id.locode}`}`,
      retired.life.retires,
    );
  }
  throw notServed(snapshot, id, canonicalId);
}

/** The same; undefined where there is none. */
export function routeOf({ models, routes }: Snapshot, { provider, creator, model, locode }: ExplicitId) {
  const canonicalId = `${creator}/${model}`;
  if (locode !== null) return routes.get(`${provider}/${canonicalId}/${locode}`);
  return models.get(canonicalId)?.routes.find((route) => route.isDefault && route.provider.id === provider);
}

export function findModel(snapshot: Snapshot, creator: string, model: string): Model {
  const canonicalId = `${creator}/${model}`;
  const found = snapshot.models.get(canonicalId);
  const retirement = found?.routes.length === 0 ? modelRetirement(snapshot, canonicalId) : undefined;
  if (retirement) throw retiredError(`auto/${canonicalId}`, retirement);
  if (found) return found;
  throw gatewayError('model_not_offered', {
    id: idExcerpt(`auto/${canonicalId}`),
    reason: `the catalogue has no model "${idExcerpt(canonicalId)}"`,
  });
}

/** A retired route is no reason to serve a pin elsewhere, so an id without a locode still means the default of the provider. */
function retiredRoute({ retired }: Snapshot, { provider, locode }: ExplicitId, canonicalId: string): Route | undefined {
  if (locode !== null) return retired?.get(`${provider}/${canonicalId}/${locode}`);
  return [...(retired?.values() ?? [])].find(
    (route) => route.isDefault && route.provider.id === provider && route.model.canonicalId === canonicalId,
  );
}

function retiredError(id: string, { date, replacedBy }: Retirement): Error {
  return gatewayError('model_retired', { id: idExcerpt(id), date, replacedBy });
}

function notServed(snapshot: Snapshot, id: ExplicitId, canonicalId: string): Error {
  const { provider, locode } = id;
  const text = idExcerpt(`${provider}/${canonicalId}${locode === null ? '' : `/${locode}`}`);
  const model = snapshot.models.get(canonicalId);
  const locodes = model?.routes.filter((route) => route.provider.id === provider).map((route) => route.locode) ?? [];
  if (locodes.length === 0 || locode === null) {
    return gatewayError('model_not_offered', {
      id: text,
      reason: whyNotOffered(snapshot, provider, canonicalId, model),
    });
  }
  return locode === 'global'
    ? gatewayError('global_not_served', { id: text, locodes: listText(locodes) })
    : gatewayError('region_not_served', { id: text, locode: idExcerpt(locode), locodes: listText(locodes) });
}

function whyNotOffered(snapshot: Snapshot, provider: string, canonicalId: string, model: Model | undefined): string {
  const offering = model ? [...new Set(model.routes.map((route) => route.provider.id))] : [];
  const others = offering.length > 0 ? `; "${idExcerpt(canonicalId)}" is offered by ${listText(offering)}` : '';
  if (!snapshot.providers.has(provider)) return `the catalogue has no provider "${idExcerpt(provider)}"${others}`;
  if (!model) return `the catalogue has no model "${idExcerpt(canonicalId)}"`;
  return `the provider "${provider}" does not offer this model${others}`;
}

function listText(names: readonly string[]): string {
  const more = names.length - namesMax;
  return more > 0 ? `${names.slice(0, namesMax).join(', ')} and ${more} more` : names.join(', ');
}
