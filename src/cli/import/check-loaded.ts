/** Looks whether the running gateway has loaded the files of an import: its names, its own routes and its providers' credentials. */
import { CommandFailure } from '../io.js';
import type { PatientCalls } from './calls.js';
import { type ListedName, type ListedRoute, sameName } from './listed.js';
import type { Plan } from './plan.js';

/** Throws where a part is missing, because keys that need it would be of no use. Returns what is there and cannot be used yet. */
export async function checkLoaded(calls: PatientCalls, plan: Plan): Promise<string[]> {
  const names = await missingNames(calls, plan);
  const { catalogue, providers } = plan;
  const needsRoutes = catalogue.routes.length + catalogue.models.length + providers.size > 0;
  const listed = needsRoutes ? await calls.all<ListedRoute>('/routes') : [];
  const missing = [...names, ...missingRoutes(listed, plan), ...missingProviders(listed, plan)];
  if (missing.length === 0) return withoutCredential(listed, plan);
  throw new CommandFailure(
    `The running gateway does not have ${missing.length} ${missing.length === 1 ? 'part' : 'parts'} of this import, such as ${missing[0]}. ` +
      'Take the written files into its configuration, restart it or reload it, and run this again. Nothing was changed.',
  );
}

async function missingNames(calls: PatientCalls, { names }: Plan): Promise<string[]> {
  if (names.size === 0) return [];
  const loaded = new Map((await calls.all<ListedName>('/names')).map((each) => [each.name, each]));
  return [...names].flatMap(([name, planned]) => (sameName(loaded.get(name), planned) ? [] : `the name "${name}"`));
}

function missingRoutes(listed: readonly ListedRoute[], { catalogue }: Plan): string[] {
  const own = [
    ...catalogue.routes.map((route) => ({ ...route, model: route.model! })),
    ...catalogue.models.flatMap(({ creator, model, routes }) =>
      routes.map((route) => ({ ...route, model: `${creator}/${model}` })),
    ),
  ].map(({ provider, model, locode }) => `${provider}/${model}/${locode.toLowerCase()}`);
  const ids = new Set(listed.map(({ id }) => id));
  return own.filter((id) => !ids.has(id)).map((id) => `the route "${id}"`);
}

function missingProviders(listed: readonly ListedRoute[], { providers }: Plan): string[] {
  return [...providers].flatMap(([id, { keys = [] }]) => {
    const those = listed.filter(({ provider }) => provider === id);
    if (those.length === 0) return [`the provider "${id}"`];
    const names = new Set(those.flatMap((route) => route.keys ?? []).map(({ name }) => name));
    return keys.flatMap(({ name }) => (names.has(name) ? [] : `the key "${name}" of the provider "${id}"`));
  });
}

/** A variable may be absent in a gateway that has the file: the provider is then not configured. */
function withoutCredential(listed: readonly ListedRoute[], { providers }: Plan): string[] {
  return [...providers].flatMap(([id, { api_key }]) => {
    if (api_key === undefined || listed.some(({ provider, configured }) => provider === id && configured)) return [];
    return `The provider "${id}" has no credential in the running gateway: take the files into its configuration, and set ${api_key} in its environment.`;
  });
}
