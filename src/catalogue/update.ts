/** An update of the catalogue: the values of files that stand in the place of the built-in ones. */

/** The parsed value of each file, by name, in the order of reading. */
export type CatalogueValues = Readonly<Record<string, unknown>>;

export interface CatalogueUpdate {
  readonly version: string;
  readonly values: CatalogueValues;
}

/** Why a file is no update, or cannot be used. Its message says what to do. */
export class UpdateRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UpdateRefused';
  }
}

const versionForm = /^(\d{4})\.(\d\d)\.(\d\d)(\.[2-9])?$/;

/** The day of a version in epoch milliseconds; undefined where the text is no version. Versions sort as texts. */
export function versionDayMs(version: string): number | undefined {
  const [, year, month, day] = versionForm.exec(version) ?? [];
  const atMs = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  return new Date(atMs || 0).toISOString().startsWith(`${year}-${month}-${day}`) ? atMs : undefined;
}

type Entry = Record<string, unknown>;
interface FileValue {
  providers?: Entry[];
  regions?: Entry[];
  models?: (Entry & { routes: Entry[] })[];
  currencies?: Entry;
}

const named = (...fields: string[]) => {
  return (entry: Entry) => fields.map((field) => String(entry[field]).toLowerCase()).join('/');
};
const nameOf = { providers: named('id'), regions: named('locode'), models: named('creator', 'model') };
const routeName = named('provider', 'locode');
const lists = ['providers', 'regions', 'models'] as const;

/**
 * The values with what only the others have: providers, regions, models, routes and rates. What both have stays as it is, and so do the
 * default routes. Both are without faults. The routes with the ids `without` are left out.
 */
export function withAdditions(
  base: CatalogueValues,
  update: CatalogueValues,
  without: ReadonlySet<string> = new Set(),
): CatalogueValues {
  const result = structuredClone(base) as Record<string, FileValue>;
  const files = Object.values(result);
  const known = (list: (typeof lists)[number]) =>
    new Map(files.flatMap((file) => (file[list] ?? []).map((entry) => [nameOf[list](entry), entry] as const)));
  const names = { providers: known('providers'), regions: known('regions'), models: known('models') };
  const rates = new Set(files.flatMap(({ currencies }) => Object.keys(currencies ?? {})));
  for (const [name, file] of Object.entries(structuredClone(update) as Record<string, FileValue>)) {
    leaveOut(file, without);
    const added: FileValue = {};
    for (const list of lists) {
      const entries = (file[list] ?? []).filter((entry) => !names[list].has(nameOf[list](entry)));
      if (entries.length > 0) Object.assign(added, { [list]: entries });
    }
    const currencies = Object.entries(file.currencies ?? {}).filter(([code]) => !rates.has(code));
    if (currencies.length > 0) added.currencies = Object.fromEntries(currencies);
    for (const model of file.models ?? []) addRoutes(names.models.get(nameOf.models(model)), model);
    if (Object.keys(added).length > 0) result[name] = joined(result[name] ?? {}, added);
  }
  return result;
}

function leaveOut(file: FileValue, ids: ReadonlySet<string>): void {
  if (!file.models || ids.size === 0) return;
  for (const model of file.models) {
    const idOf = ({ provider, locode }: Entry) =>
      `${provider}/${model.creator}/${model.model}/${String(locode).toLowerCase()}`;
    model.routes = model.routes.filter((route) => !ids.has(idOf(route)));
  }
  file.models = file.models.filter(({ routes }) => routes.length > 0);
}

function joined(one: FileValue, other: FileValue): FileValue {
  const both = lists.flatMap((list) => {
    const entries = [...(one[list] ?? []), ...(other[list] ?? [])];
    return entries.length > 0 ? [[list, entries]] : [];
  });
  const currencies = { ...one.currencies, ...other.currencies };
  return { ...Object.fromEntries(both), ...(Object.keys(currencies).length > 0 && { currencies }) };
}

/** Adds the routes that the model does not have, after its own, so that the first route of a provider stays its default. */
function addRoutes(into: Entry | undefined, { routes }: { routes: Entry[] }): void {
  if (!into) return;
  const own = into.routes as Entry[];
  const names = new Set(own.map(routeName));
  const providers = new Set(own.map(({ provider }) => provider));
  for (const { default: isDefault, ...route } of routes) {
    if (names.has(routeName(route))) continue;
    own.push(isDefault !== undefined && !providers.has(route.provider) ? { ...route, default: isDefault } : route);
  }
}
