/** Looks whether the running gateway has loaded the files of an import: its names, its own routes and its providers' credentials. */
import { CommandFailure } from '../io.js';
import type { PatientCalls } from './calls.js';
import { type ListedName, type ListedRoute, sameName } from './listed.js';
import type { Plan } from './plan.js';

/** Throws where a part is missing, because keys that need it would be of no use. */
export async function checkLoaded(calls: PatientCalls, plan: Plan): Promise<void> {
  const missing = [...(await missingNames(calls, plan)), ...(await missingRoutes(calls, plan))];
  if (missing.length === 0) return;
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

async function missingRoutes(calls: PatientCalls, { catalogue, providers, listedVariables }: Plan): Promise<string[]> {
  const own = [
    ...catalogue.routes.map((route) => ({ ...route, model: route.model! })),
    ...catalogue.models.flatMap(({ creator, model, routes }) =>
      routes.map((route) => ({ ...route, model: `${creator}/${model}` })),
    ),
  ].map(({ provider, model, locode }) => `${provider}/${model}/${locode.toLowerCase()}`);
  if (own.length === 0 && providers.size === 0) return [];
  const listed = await calls.all<ListedRoute>('/routes');
  const ids = new Set(listed.map(({ id }) => id));
  const routes = own.filter((id) => !ids.has(id)).map((id) => `the route "${id}"`);
  const credentials = [...providers].flatMap(([id, { api_key, keys = [] }]) => {
    const those = listed.filter(({ provider }) => provider === id);
    // The provider reads this variable with the file and without it, and it may be absent.
    const isListed = api_key === `\${${listedVariables.get(id)}}`;
    const needsCredential = (api_key !== undefined && !isListed) || keys.length > 0;
    if (those.length === 0) return [`the provider "${id}"`];
    if (needsCredential && those.every(({ configured }) => !configured))
      return [`the provider "${id}" with a credential (is ${api_key ?? keys[0]!.api_key} set there?)`];
    const names = new Set(those.flatMap((route) => route.keys ?? []).map(({ name }) => name));
    return keys.flatMap(({ name }) => (names.has(name) ? [] : `the key "${name}" of the provider "${id}"`));
  });
  return [...routes, ...credentials];
}
