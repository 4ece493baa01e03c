/**
 * The facts that a snapshot serves, as plain values: who offers which model where, at what price, under which law and terms. They do not
 * depend on the environment, so every process with the same files has the same facts. Credentials and addresses are no part of them.
 */
import type { DataPolicy } from '../base/data-policy.js';
import type { Life } from './life.js';
import { priceFacts } from './price-facts.js';
import { noProvenance, type Provenance } from './provenance.js';
import type { Model, Provider, Region, Route, Snapshot } from './route.js';

export const changeKinds = ['price', 'region', 'carbon', 'jurisdiction', 'terms', 'route', 'model'] as const;
export type ChangeKind = (typeof changeKinds)[number];

export type FactValue = string | number | boolean | readonly string[];

/** By the subject's id, then by the name of the field. An unknown value has no entry. */
type Subjects = Record<string, Record<string, FactValue>>;
export type Facts = Readonly<Record<ChangeKind, Subjects>>;

/** null-prototype objects, because ids and names of fields come from files. */
const empty = <T>(): Record<string, T> => Object.create(null) as Record<string, T>;

class FactList {
  readonly facts: Facts = Object.assign(
    Object.create(null),
    Object.fromEntries(changeKinds.map((kind) => [kind, empty()])),
  );

  add(kind: ChangeKind, id: string, fields: Readonly<Record<string, FactValue | null | undefined>>): void {
    for (const [name, value] of Object.entries(fields)) {
      if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) continue;
      this.facts[kind][id] ??= empty();
      this.facts[kind][id][name] = value;
    }
  }
}

export function factsOf(snapshot: Snapshot): Facts {
  const list = new FactList();
  for (const provider of snapshot.providers.values()) addProvider(list, provider);
  for (const region of snapshot.regions.values()) addRegion(list, region);
  for (const model of snapshot.models.values()) addModel(list, model);
  for (const route of snapshot.routes.values()) addRoute(list, route);
  // A day that passes changes no fact: the retirement was one before.
  for (const route of snapshot.retired?.values() ?? []) addRoute(list, route);
  return list.facts;
}

function addProvider(list: FactList, provider: Provider): void {
  const { id, name, headquarters, cloudAct, excludedTerritories } = provider;
  list.add('jurisdiction', id, { name, headquarters, cloud_act: cloudAct });
  list.add('terms', id, { excluded_territories: sorted(excludedTerritories), ...policyFacts(provider.dataPolicy) });
}

function addRegion(list: FactList, { locode, city, country, lat, lon, carbon }: Region): void {
  list.add('region', locode, { city, country, lat, lon });
  list.add('carbon', locode, { carbon });
}

function addModel(list: FactList, model: Model): void {
  const { canonicalId: id, name, kind, dimensions, maxInputTokens, excludedTerritories } = model;
  list.add('model', id, {
    ...{ id, name, kind, dimensions, max_input_tokens: maxInputTokens },
    ...{ context_window: model.contextWindow, max_output_tokens: model.maxOutputTokens },
    ...lifeFacts(model.life),
  });
  list.add('terms', id, { excluded_territories: sorted(excludedTerritories) });
}

function addRoute(list: FactList, route: Route): void {
  const { id, upstreamModel, capabilities, unsupportedParameters, quantization, processing } = route;
  list.add('route', id, {
    ...{ id, default: route.isDefault, upstream_model: upstreamModel, quantization },
    ...{ context_window: route.contextWindow, max_output_tokens: route.maxOutputTokens },
    ...lifeFacts(route.life),
    daily_token_quota: route.dailyTokenQuota,
    responses_only: route.responsesOnly,
    capabilities: sorted(capabilities),
    unsupported_parameters: sorted(unsupportedParameters),
  });
  list.add('region', id, { country: route.country, processing });
  list.add('carbon', id, { carbon: route.carbon });
  list.add('terms', id, policyFacts(route.dataPolicy));
  if (route.price) list.add('price', id, priceFacts(route.price));
}

function lifeFacts({ released, deprecated, retires }: Life = {}): Record<string, FactValue | null | undefined> {
  return { released, deprecated, retires: retires?.date, replaced_by: retires?.replacedBy };
}

function policyFacts(policy: DataPolicy | undefined): Record<string, FactValue | undefined> {
  if (!policy) return {};
  const { trains, retention_days, zdr, in_region, eu_owned, certifications } = policy;
  return {
    ...{ 'data_policy.trains': trains, 'data_policy.retention_days': retention_days, 'data_policy.zdr': zdr },
    ...{ 'data_policy.in_region': in_region, 'data_policy.eu_owned': eu_owned },
    'data_policy.certifications': sorted(certifications),
  };
}

function sorted(names: Iterable<string> | undefined): readonly string[] | undefined {
  return names && [...names].sort();
}

/** Where a fact is from, and of when, as far as the catalogue says. */
export function provenanceOf(snapshot: Snapshot, kind: ChangeKind, id: string, field: string): Provenance {
  const { providers, regions, models } = snapshot;
  const route = snapshot.routes.get(id) ?? snapshot.retired?.get(id);
  if (field.startsWith('data_policy.')) {
    const policy = route ? route.dataPolicy : providers.get(id)?.dataPolicy;
    return { source: policy?.source ?? null, asOf: policy?.as_of ?? null };
  }
  if (route) return routeProvenance(route, kind, field, regions.get(route.locode)) ?? noProvenance;
  return (providers.get(id) ?? regions.get(id) ?? models.get(id))?.provenance ?? noProvenance;
}

const limits: readonly string[] = ['context_window', 'max_output_tokens'];

/** A route may state a source of its own. Without one, that of what it has from its region or model holds. */
function routeProvenance(route: Route, kind: ChangeKind, field: string, region?: Region): Provenance | undefined {
  const { provenance, price, carbon, model } = route;
  if (kind === 'price' || field === 'id') return price?.provenance ?? provenance;
  if (provenance) return provenance;
  if (kind === 'carbon') return carbon === region?.carbon ? region?.provenance : undefined;
  return limits.includes(field) ? model.provenance : undefined;
}
