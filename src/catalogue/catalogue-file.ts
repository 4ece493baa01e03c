/** Reads a catalogue file and checks it entry by entry, so that one faulty entry does not hide the faults of others. */
import type { z } from 'zod';
import { describeValue, type FieldPath, YamlSource } from '../base/yaml-source.js';
import type { Currencies } from './currencies.js';
import {
  addedRoute,
  lists,
  type ModelFields,
  model,
  type ProviderEntry,
  provider,
  type RegionEntry,
  type RouteFields,
  region,
  route,
} from './entry-schema.js';
import type { Price } from './price.js';
import { readPrice } from './price-fields.js';

export type RouteEntry = Omit<RouteFields, 'price'> & { readonly price: Price | null };
export type ModelEntry = Omit<ModelFields, 'routes'> & { readonly routes: readonly Located<RouteEntry>[] };

/** An entry and its position, for faults that appear only when entries are compared. */
export interface Located<Entry> {
  readonly entry: Entry;
  readonly source: YamlSource;
  readonly path: FieldPath;
}

/** A route that is added to a model from outside of its entry. Its price is read when the kind of the model is known. */
export interface AddedRoute {
  /** The canonical id of the model. */
  readonly model: string;
  readonly fields: RouteFields;
  readonly path: FieldPath;
}

export interface CatalogueFile {
  readonly source: YamlSource;
  readonly providers: ReadonlyMap<string, Located<ProviderEntry>>;
  readonly regions: ReadonlyMap<string, Located<RegionEntry>>;
  /** By canonical id. */
  readonly models: ReadonlyMap<string, Located<ModelEntry>>;
  /** Of `routes`, in their order. */
  readonly added: readonly AddedRoute[];
  /** Provider ids, locodes and models of faulty entries: a reference to one of them is not reported as a second fault. */
  readonly faulty: ReadonlySet<string>;
  /** Providers with faults, whose dialect is still to be checked. */
  readonly refused: readonly Located<Readonly<Record<string, unknown>>>[];
}

/** `known` is the parsed value of the text, if there is one already. */
export function readCatalogueSource(file: string, text: string, known?: { readonly value: unknown }): YamlSource {
  const source = new YamlSource(file, text, undefined, known);
  if (source.faults.length === 0) source.check(lists);
  return source;
}

/** `currencies` are those of all files: a price may name a rate of another file. */
export function readEntries(source: YamlSource, currencies: Currencies = new Map()): CatalogueFile {
  const faulty = new Set<string>();
  const refused: Located<Readonly<Record<string, unknown>>>[] = [];
  const refuse = (value: unknown): void => {
    const { id, locode, creator, model } = isFields(value) ? value : {};
    faulty.add(String(id ?? locode ?? `${creator}/${model}`).toLowerCase());
  };
  const models = entriesOf(source, 'models', model, (entry) => `${entry.creator}/${entry.model}`, refuse);
  return {
    source,
    faulty,
    refused,
    providers: entriesOf(
      source,
      'providers',
      provider,
      (entry) => entry.id,
      (value, path) => {
        refuse(value);
        if (isFields(value)) refused.push({ entry: value, source, path });
      },
    ),
    regions: entriesOf(source, 'regions', region, (entry) => entry.locode, refuse),
    models: withRoutes(models, currencies),
    added: addedRoutes(source),
  };
}

function addedRoutes(source: YamlSource): AddedRoute[] {
  const values = source.valueAt(['routes']) ?? [];
  if (!Array.isArray(values)) {
    source.faultAt(['routes'], `found ${describeValue(values)}, expected a list of routes`);
    return [];
  }
  return values.flatMap((_, index) => {
    const path = ['routes', index];
    const checked = source.check(addedRoute, path);
    if (!checked) return [];
    const { model: name, ...fields } = checked;
    return [{ model: name, fields, path }];
  });
}

function entriesOf<Entry>(
  source: YamlSource,
  list: string,
  schema: z.ZodType<Entry>,
  nameOf: (entry: Entry) => string,
  onFaulty: (value: unknown, path: FieldPath) => void,
): Map<string, Located<Entry>> {
  const entries = new Map<string, Located<Entry>>();
  const values = source.valueAt([list]) ?? [];
  if (!Array.isArray(values)) {
    source.faultAt([list], `found ${describeValue(values)}, expected a list of ${list}`);
    return entries;
  }
  for (const [index, value] of values.entries()) {
    const path = [list, index];
    const entry = source.check(schema, path);
    if (entry === undefined) {
      onFaulty(value, path);
      continue;
    }
    const name = nameOf(entry);
    const earlier = entries.get(name);
    if (earlier)
      source.faultAt(path, `found "${name}" again, expected it once (line ${source.lineOf(earlier.path)} has it)`);
    else entries.set(name, { entry, source, path });
  }
  return entries;
}

function withRoutes(
  models: Map<string, Located<ModelFields>>,
  currencies: Currencies,
): Map<string, Located<ModelEntry>> {
  const result = new Map<string, Located<ModelEntry>>();
  for (const [name, { entry, source, path }] of models) {
    const routes: Located<RouteEntry>[] = [];
    for (const index of entry.routes.keys()) {
      const routePath = [...path, 'routes', index];
      const checked = source.check(route, routePath);
      if (checked) routes.push(pricedRoute(checked, { source, path: routePath, kind: entry.kind, currencies }));
    }
    result.set(name, { source, path, entry: { ...entry, routes } });
  }
  return result;
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

interface RouteReading {
  readonly source: YamlSource;
  readonly path: FieldPath;
  readonly kind: ModelFields['kind'];
  readonly currencies: Currencies;
}

export function pricedRoute(
  checked: RouteFields,
  { source, path, kind, currencies }: RouteReading,
): Located<RouteEntry> {
  const price = checked.price ? (readPrice(source, [...path, 'price'], kind ?? 'chat', currencies) ?? null) : null;
  return { source, path, entry: { ...checked, price } };
}
