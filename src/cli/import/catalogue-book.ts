/** Finds models of other systems in the catalogue, and takes what the catalogue lacks into an own file. */
import { loadCatalogue, type MergedCatalogue } from '../../catalogue/load-catalogue.js';
import type { OwnRoute, Plan } from './plan.js';
import { type Fields, fieldsOf } from './values.js';

export interface KnownRoute {
  readonly canonicalId: string;
  readonly provider: string;
  readonly locode: string;
  readonly isDefault: boolean;
  readonly upstreamModel: string;
  /** As the file has it. */
  readonly raw: Fields;
}

export class CatalogueBook {
  private constructor(
    private readonly merged: MergedCatalogue,
    private readonly byProvider: ReadonlyMap<string, readonly KnownRoute[]>,
  ) {}

  static async read(files: readonly string[]): Promise<CatalogueBook> {
    const merged = await loadCatalogue(files);
    const byProvider = new Map<string, KnownRoute[]>();
    for (const [canonicalId, { entry }] of merged.models) {
      for (const { entry: route, source, path } of entry.routes) {
        const raw = fieldsOf(source.valueAt(path));
        const known = {
          ...{ canonicalId, provider: route.provider, locode: route.locode, raw },
          isDefault: route.default === true,
          upstreamModel: typeof raw.upstream_model === 'string' ? raw.upstream_model : entry.model,
        };
        byProvider.set(route.provider, [...(byProvider.get(route.provider) ?? []), known]);
      }
    }
    return new CatalogueBook(merged, byProvider);
  }

  hasProvider(id: string): boolean {
    return this.merged.providers.has(id);
  }

  hasModel(canonicalId: string): boolean {
    return this.merged.models.has(canonicalId);
  }

  /** The provider's own dialect. */
  dialectOf(provider: string): string | null {
    return this.merged.providers.get(provider)?.entry.dialect ?? null;
  }

  routesOf(provider: string): readonly KnownRoute[] {
    return this.byProvider.get(provider) ?? [];
  }

  /**
   * The routes of the one model that a provider knows by this text: the name that the provider itself uses, `creator/model`, or the
   * model's part of it. Empty where there is none, or more than one.
   */
  find(provider: string, model: string): readonly KnownRoute[] {
    const routes = this.routesOf(provider);
    const ways: ((route: KnownRoute) => string)[] = [
      ({ upstreamModel }) => upstreamModel,
      ({ canonicalId }) => canonicalId,
      ({ canonicalId }) => canonicalId.slice(canonicalId.indexOf('/') + 1),
    ];
    for (const way of ways) {
      const found = routes.filter((route) => way(route).toLowerCase() === model.toLowerCase());
      if (found.length > 0) return new Set(found.map(({ canonicalId }) => canonicalId)).size === 1 ? found : [];
    }
    return [];
  }

  /** Any model of the catalogue by `creator/model` or its own part; null where there is none, or more than one. */
  modelNamed(text: string): string | null {
    if (this.merged.models.has(text)) return text;
    const found = [...this.merged.models.keys()].filter((id) => id.slice(id.indexOf('/') + 1) === text);
    return found.length === 1 ? found[0]! : null;
  }
}

/** An id that no provider of the catalogue or the plan has yet: `openai-2`. */
export function newProviderId(book: CatalogueBook, plan: Plan, base: string): string {
  const plain = base.toLowerCase().replace(/[^a-z0-9-]+/g, '-');
  for (let n = 2; ; n++) {
    const id = `${plain}-${n}`;
    if (!book.hasProvider(id) && !plan.providers.has(id)) return id;
  }
}

/** A segment of an id: what a segment cannot have becomes `-`. */
export function segmentOf(text: string): string {
  const plain = text.replace(/[^A-Za-z0-9._:@+-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  return (plain === '' ? 'model' : plain).slice(0, 128);
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
