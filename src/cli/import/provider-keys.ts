/** Several credentials of one provider in a source: they become its `keys`, each for the models that it is named beside. */
import type { ModelEntries } from './entries.js';
import type { Plan, ProviderPlan } from './plan.js';
import { type Fields, textOf } from './values.js';

type KeyEntry = NonNullable<ProviderPlan['keys']>[number];

/** The first credential of a provider is its `api_key`; another one makes a list of both. */
export function claimSecret({ plan, report }: ModelEntries, id: string, params: Fields, field: string): void {
  const secret = textOf(params.api_key);
  if (secret === null) return;
  if (!/^[!-~]+$/.test(secret)) {
    const why = 'no credential of visible ASCII characters: give the provider its key by hand';
    return void report.notTaken(`${field}.litellm_params.api_key`, why);
  }
  const settings = plan.providers.get(id)!;
  let reference = referenceTo(plan, settings, secret);
  if (reference === undefined) {
    reference = plan.secretReference(secret, `${id}_API_KEY`);
    addKey(settings, reference);
    const own = plan.catalogue.providers.find((entry) => entry.id === id);
    if (own?.auth === 'none') delete own.auth;
  }
  report.taken(`${field}.litellm_params.api_key`, `\`${reference}\` of the provider \`${id}\``);
}

function addKey(settings: ProviderPlan, reference: string): void {
  if (settings.api_key === undefined && settings.keys === undefined) {
    settings.api_key = reference;
    return;
  }
  const keyOf = (reference: string): KeyEntry => ({ name: reference.slice(2, -1), api_key: reference });
  settings.keys ??= [keyOf(settings.api_key!)];
  settings.keys.push(keyOf(reference));
  delete settings.api_key;
}

/** How the settings name a secret; undefined where they do not have it yet. */
function referenceTo(plan: Plan, { api_key, keys = [] }: ProviderPlan, secret: string): string | undefined {
  const references = [...(api_key === undefined ? [] : [api_key]), ...keys.map((key) => key.api_key)];
  return references.find((reference) => plan.standsFor(reference, secret));
}

/** The entry of the list of keys that has the secret; undefined where the provider has one credential alone. */
export function keyWith(plan: Plan, id: string, secret: string): KeyEntry | undefined {
  return plan.providers.get(id)?.keys?.find((key) => plan.standsFor(key.api_key, secret));
}

/** Notes that a model is called with a credential, or with any where the entry names none. */
export function coverModel({ plan, covered }: ModelEntries, id: string, params: Fields, canonicalId: string): void {
  const settings = plan.providers.get(id);
  if (settings === undefined) return;
  const secret = textOf(params.api_key);
  const models = covered.get(id) ?? new Map<string, Set<string>>();
  covered.set(id, models);
  const reference = secret === null ? anyKey : (referenceTo(plan, settings, secret) ?? anyKey);
  models.set(reference, (models.get(reference) ?? new Set()).add(canonicalId));
  const keys = settings.keys ?? [];
  const lists = keys.map(({ api_key }) => [
    ...new Set([...(models.get(api_key) ?? []), ...(models.get(anyKey) ?? [])]),
  ]);
  const all = new Set(lists.flat());
  const isAlike = lists.every((list) => list.length === all.size);
  for (const [index, key] of keys.entries()) {
    if (isAlike) delete key.models;
    else key.models = lists[index]!;
  }
}

const anyKey = '';
