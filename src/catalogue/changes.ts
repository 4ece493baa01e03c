/** What a load of the catalogue has changed, fact by fact. */
import { type ChangeKind, changeKinds, type Facts, type FactValue, provenanceOf } from './facts.js';
import type { Snapshot } from './route.js';

/** One change, as `GET /v1/catalogue/changes` shows it. */
export interface CatalogueChange {
  readonly kind: ChangeKind;
  /** A route, `{creator}/{model}`, a provider or a locode. */
  readonly id: string;
  /** `id` where the route, model or provider itself came or went. */
  readonly field: string;
  /** null where there was nothing before, or is nothing now. */
  readonly from: FactValue | null;
  readonly to: FactValue | null;
  readonly source: string | null;
  readonly asOf: string | null;
}

type Difference = Pick<CatalogueChange, 'kind' | 'id' | 'field' | 'from' | 'to'>;

/** `before` may come from a store, and be of another version: kinds that it does not have are empty. */
export function changesBetween(before: Partial<Facts>, after: Facts, snapshot: Snapshot): CatalogueChange[] {
  const all = [...differences(before, after), ...providersBetween(before, after)];
  const byName = new Map(all.map((one) => [nameOf(one.kind, one.id, one.field), one]));
  return [...all.filter((one) => !followsAnother(one, byName)), ...movedRoutes(all)].map((one) => {
    const { source, asOf } = provenanceOf(snapshot, one.kind, one.id, one.field);
    return { ...one, source, asOf };
  });
}

/** What comes and goes as a whole; a provider does so as a jurisdiction. */
const comesWhole = ['route', 'model', 'jurisdiction'] as const;

const nameOf = (kind: ChangeKind, id: string, field: string): string => JSON.stringify([kind, id, field]);

function differences(before: Partial<Facts>, after: Facts): Difference[] {
  const found: Difference[] = [];
  for (const kind of changeKinds) {
    const [old, now] = [before[kind] ?? {}, after[kind]];
    for (const id of namesOf(old, now)) {
      for (const field of namesOf(old[id], now[id])) {
        const [from, to] = [factAt(old[id], field), factAt(now[id], field)];
        if (!isSame(from, to)) found.push({ kind, id, field, from, to });
      }
    }
  }
  return found;
}

function isSame(one: FactValue | null, other: FactValue | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function namesOf(...objects: (object | undefined)[]): string[] {
  return [...new Set(objects.flatMap((one) => Object.keys(one ?? {})))].sort();
}

function factAt(fields: Readonly<Record<string, FactValue>> | undefined, name: string): FactValue | null {
  return fields && Object.hasOwn(fields, name) ? fields[name]! : null;
}

/** Every provider has a name among the facts of its jurisdiction. */
function providersBetween({ jurisdiction: old = {} }: Partial<Facts>, { jurisdiction: now }: Facts): Difference[] {
  return namesOf(old, now).flatMap((id): Difference[] => {
    const [from, to] = [Object.hasOwn(old, id) ? id : null, Object.hasOwn(now, id) ? id : null];
    return from === to ? [] : [{ kind: 'jurisdiction', id, field: 'id', from, to }];
  });
}

/** The facts of a route, model or provider that came or went are not changes of their own, nor are those that a route has from its parents. */
function followsAnother(one: Difference, byName: ReadonlyMap<string, Difference>): boolean {
  const { kind, id, field } = one;
  if (field === 'id') return false;
  if (comesWhole.some((part) => byName.has(nameOf(part, id, 'id')))) return true;
  const parent = parentOf(one);
  if (parent === undefined) return false;
  const other = byName.get(nameOf(kind === 'route' ? 'model' : kind, parent, field));
  return other !== undefined && isSame(other.from, one.from) && isSame(other.to, one.to);
}

/** Where a route has a fact from, unless it states its own. */
function parentOf({ kind, id }: Difference): string | undefined {
  const parts = id.split('/');
  if (parts.length !== 4) return undefined;
  const [provider, creator, model, locode] = parts;
  if (kind === 'carbon' || kind === 'region') return locode;
  if (kind === 'terms') return provider;
  return kind === 'route' ? `${creator}/${model}` : undefined;
}

/** Where a provider lost one route of a model and gained one, the model has moved to another region. */
function movedRoutes(all: readonly Difference[]): Difference[] {
  const places = new Map<string, { gone: string[]; come: string[] }>();
  for (const { kind, id, field, to } of all) {
    if (kind !== 'route' || field !== 'id') continue;
    const [, provider, locode] = /^(.*)\/([^/]*)$/.exec(id) as unknown as [string, string, string];
    const place = places.get(provider) ?? { gone: [], come: [] };
    (to === null ? place.gone : place.come).push(locode);
    places.set(provider, place);
  }
  return [...places].flatMap(([name, { gone, come }]): Difference[] => {
    if (gone.length !== 1 || come.length !== 1) return [];
    return [{ kind: 'region', id: `${name}/${come[0]}`, field: 'locode', from: gone[0]!, to: come[0]! }];
  });
}
