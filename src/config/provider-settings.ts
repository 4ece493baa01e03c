/** The operator's settings for providers of the catalogue. */
import { z } from 'zod';
import { agreement } from '../base/data-policy.js';
import { defaultKeyName, type ProviderKey } from '../base/provider-key.js';
import {
  credential,
  field,
  fields,
  httpAddress,
  isProviderId,
  listOf,
  numberFrom,
  providerIdExpected,
  text,
  yesOrNo,
} from '../base/yaml-fields.js';
import type { YamlSource } from '../base/yaml-source.js';

const keyNameMax = 64;
const keyName = field(`a name of 1 to ${keyNameMax} visible characters and single spaces`, (value) =>
  typeof value === 'string' && value.length <= keyNameMax && /^[^\s\p{C}]+(?: [^\s\p{C}]+)*$/u.test(value)
    ? value
    : undefined,
);
const keyModel = field('a model as {creator}/{model} or {creator}/*', (value) =>
  typeof value === 'string' && /^[^\s/*]+\/(?:[^\s/*]+|\*)$/.test(value) ? value : undefined,
);
const weightMax = 1_000_000;

const key = fields({
  name: keyName,
  api_key: credential.nullish(),
  api_key_file: text.nullish(),
  weight: numberFrom(1, weightMax).nullish(),
  models: listOf(keyModel, 'models as {creator}/{model} or {creator}/*').min(1, 'at least one model').nullish(),
});

const provider = fields({
  api_key: credential.nullish(),
  base_url: httpAddress.nullish(),
  agreement: agreement.nullish(),
  stored_objects: yesOrNo.nullish(),
  api_key_file: text.nullish(),
  keys: listOf(key, 'keys, each with `name` and `api_key`').min(1, 'at least one key').nullish(),
});

export const providers = z.record(z.string().refine(isProviderId), provider.nullish(), {
  error: (issue) =>
    issue.code === 'invalid_key' ? providerIdExpected : 'a mapping from provider ids to their settings',
});

export type ProviderValues = z.infer<typeof providers>;

/** Reports keys without a secret and names that stand twice in the providers of a file, when the files of secrets have been read. */
export function checkKeys(source: YamlSource, providers: ProviderValues): void {
  for (const [id, settings] of Object.entries(providers)) {
    if (source.valueAt(['providers', id]) === undefined) continue;
    const names = new Set(settings?.api_key == null ? [] : [defaultKeyName]);
    for (const [index, { name, api_key }] of (settings?.keys ?? []).entries()) {
      const path = ['providers', id, 'keys', index];
      if (names.has(name))
        source.faultAt([...path, 'name'], `found ${JSON.stringify(name)} again, expected a name for each key`);
      names.add(name);
      // One that names an absent variable, or a file that cannot be read, has its fault already.
      const isStated =
        source.valueAt([...path, 'api_key']) != null || source.valueAt([...path, 'api_key_file']) != null;
      if (api_key == null && !isStated) source.faultAt([...path, 'api_key'], 'missing, expected a credential');
    }
  }
}

/** The keys of a provider with a list of them; its `api_key` beside the list is one of them. */
export function keysOf(settings: NonNullable<ProviderValues[string]>): ProviderKey[] {
  const beside = settings.api_key == null ? [] : [{ name: defaultKeyName, api_key: settings.api_key }];
  const all: NonNullable<(typeof settings)['keys']> = [...beside, ...(settings.keys ?? [])];
  return all.map(({ name, api_key, weight, models }) => ({
    name,
    apiKey: api_key!,
    weight: weight ?? 1,
    models: models ?? null,
  }));
}
