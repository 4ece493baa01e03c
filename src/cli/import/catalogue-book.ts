/** Finds models of other systems in the catalogue, and takes what the catalogue lacks into an own file. */
import { loadCatalogue, type MergedCatalogue } from '../../catalogue/load-catalogue.js';
import type { OwnRoute, Plan } from './plan.js';
import { type Fields, fieldsOf, textOf } from './values.js';

export interface KnownRoute {
  readonly canonicalId: string;
  readonly provider: string;
  readonly locode: string;
  readonly isDefault: boolean;
  readonly upstreamModel: string;
  /** As the file has it. */
  readonly raw: Fields;
}

export interface Found {
  readonly canonicalId: string;
  /** The provider's routes of the model; none where only others serve it. */
  readonly routes: readonly KnownRoute[];
  /** Whether the routes call the model by the very name that was looked for. */
  readonly isExact: boolean;
}

/** Each text with the one model that it stands for; null where it stands for several. */
type Spellings = Map<string, string | null>;

export class CatalogueBook {
  private readonly byProvider = new Map<string, KnownRoute[]>();
  private readonly byModel = new Map<string, KnownRoute[]>();
  /** The provider's own names of models. */
  private readonly upstream = new Map<string, Spellings>();
  /** Names under which the catalogue has a model at any provider. */
  private readonly stated: Spellings = new Map();
  private readonly byAddress = new Map<string, string>();

  private constructor(private readonly merged: MergedCatalogue) {
    for (const [canonicalId, { entry }] of merged.models) {
      addSpelling(this.stated, canonicalId, canonicalId);
      addSpelling(this.stated, afterSlash(canonicalId), canonicalId);
      for (const { entry: route, source, path } of entry.routes) {
        const raw = fieldsOf(source.valueAt(path));
        this.addRoute({
          ...{ canonicalId, provider: route.provider, locode: route.locode, raw },
          isDefault: route.default === true,
          upstreamModel: textOf(raw.upstream_model) ?? entry.model,
        });
      }
    }
    for (const [id, { entry }] of merged.providers) {
      if (entry.base_url && !entry.base_url.includes('${')) this.byAddress.set(hostAndPath(entry.base_url), id);
    }
  }

  static async read(files: readonly string[]): Promise<CatalogueBook> {
    return new CatalogueBook(await loadCatalogue(files));
  }

  private addRoute(route: KnownRoute): void {
    const { provider, canonicalId, upstreamModel } = route;
    listIn(this.byProvider, provider).push(route);
    listIn(this.byModel, `${provider} ${canonicalId}`).push(route);
    const own = this.upstream.get(provider) ?? new Map();
    this.upstream.set(provider, own);
    addSpelling(own, upstreamModel, canonicalId);
    addSpelling(own, plainName(upstreamModel), canonicalId);
    addSpelling(this.stated, plainName(upstreamModel), canonicalId);
  }

  hasProvider(id: string): boolean {
    return this.merged.providers.has(id);
  }

  hasModel(canonicalId: string): boolean {
    return this.merged.models.has(canonicalId);
  }

  /** The provider as its file has it. */
  providerEntry(id: string): Fields {
    const located = this.merged.providers.get(id);
    return located ? fieldsOf(located.source.valueAt(located.path)) : {};
  }

  /** The provider with this address; null where the catalogue has none. */
  providerAt(address: string): string | null {
    return this.byAddress.get(hostAndPath(address)) ?? null;
  }

  routesOf(provider: string): readonly KnownRoute[] {
    return this.byProvider.get(provider) ?? [];
  }

  /**
   * The one model that a text stands for: by the provider's own name of it, by `creator/model` or the model's part, or by a name that the
   * catalogue states at another provider. Profiles, versions and the way a date is joined on are read as the clouds write them. null
   * where there is none, or more than one: nothing is guessed.
   */
  find(provider: string, model: string): Found | null {
    const own = this.upstream.get(provider);
    for (const text of new Set([model, plainName(model)])) {
      for (const spellings of [own, this.stated]) {
        const canonicalId = spellings?.get(text.toLowerCase());
        if (canonicalId === null) return null;
        if (canonicalId !== undefined) return this.foundAs(provider, canonicalId, model);
      }
    }
    return null;
  }

  private foundAs(provider: string, canonicalId: string, model: string): Found {
    const all = this.byModel.get(`${provider} ${canonicalId}`) ?? [];
    const exact = all.filter(({ upstreamModel }) => upstreamModel.toLowerCase() === model.toLowerCase());
    if (exact.length > 0) return { canonicalId, routes: exact, isExact: true };
    // Another profile of a cloud is another route, with a price of its own.
    const same = all.filter(({ upstreamModel }) => profileOf(upstreamModel) === profileOf(model));
    return { canonicalId, routes: same, isExact: false };
  }
}

/** `us.` in front of a name of Amazon's: where requests may be computed. */
const profile = /^(us|eu|apac|au|jp|ca|global|us-gov)\.(?=[a-z0-9]+\.)/;

function profileOf(model: string): string {
  return profile.exec(model.toLowerCase())?.[1] ?? '';
}

/** The name without what a cloud adds: the profile, the maker and the version of Amazon's, `-maas` and `@` of Google's. */
function plainName(model: string): string {
  return model
    .toLowerCase()
    .replace(profile, '')
    .replace(
      /^(anthropic|amazon|meta|mistral|cohere|deepseek|openai|qwen|google|xai|zai|minimax|moonshotai|nvidia)\./,
      '',
    )
    .replace(/-v\d+(:\d+)?$/, '')
    .replace('@', '-')
    .replace(/-maas$/, '');
}

function addSpelling(spellings: Spellings, text: string, canonicalId: string): void {
  const key = text.toLowerCase();
  const known = spellings.get(key);
  if (known === undefined) spellings.set(key, canonicalId);
  else if (known !== canonicalId) spellings.set(key, null);
}

function listIn<T>(map: Map<string, T[]>, key: string): T[] {
  const list = map.get(key) ?? [];
  map.set(key, list);
  return list;
}

const afterSlash = (text: string) => text.slice(text.indexOf('/') + 1);
const hostAndPath = (address: string) =>
  address
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/\/+$/, '');

/** An id that no provider of the catalogue or the plan has yet: the name itself, or `openai-2`. */
export function newProviderId(book: CatalogueBook, plan: Plan, base: string): string {
  const plain = base.toLowerCase().replace(/[^a-z0-9-]+/g, '-');
  for (let n = 1; ; n++) {
    const id = n === 1 ? plain : `${plain}-${n}`;
    if (!book.hasProvider(id) && !plan.providers.has(id)) return id;
  }
}

/** A segment of an id: what a segment cannot have becomes `-`. */
export function segmentOf(text: string): string {
  const plain = text.replace(/[^A-Za-z0-9._:@+-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  return (plain === '' ? 'model' : plain).slice(0, 120);
}

/** Adds a route of the plan to a model, which is new where the catalogue does not have it. */
export function addOwnRoute(book: CatalogueBook, plan: Plan, canonicalId: string, route: OwnRoute, more: Fields): void {
  if (book.hasModel(canonicalId)) {
    plan.catalogue.routes.push({ model: canonicalId, ...route });
    return;
  }
  const [creator, model] = canonicalId.split('/') as [string, string];
  const known = plan.catalogue.models.find((entry) => entry.creator === creator && entry.model === model);
  if (known) known.routes.push(route);
  else plan.catalogue.models.push({ creator, model, ...more, routes: [route] });
}
