/** Reads the providers of Bifrost's `config.json`: their keys, and a name for each model that these serve. */
import type { ModelEntries } from './entries.js';
import { readModelEntry } from './litellm-models.js';
import { addName, nameFault } from './litellm-names.js';
import { providerIds } from './litellm-providers.js';
import { keyWith } from './provider-keys.js';
import { ImportReport } from './report.js';
import { RenamedReport } from './source-fields.js';
import { type Fields, fieldsOf, listOf, textOf } from './values.js';

export const ownSettings = 'left out: Lodestone has its own';

/** Bifrost's names of providers, as LiteLLM has them. */
const providerNames: Record<string, string> = {
  vertex: 'vertex_ai',
  ollama: 'ollama',
  sgl: 'hosted_vllm',
  azure: 'azure',
};

export function readProviders(into: ModelEntries, providers: Fields, field: string): void {
  const { report } = into;
  for (const [name, value] of Object.entries(providers)) {
    const settings = fieldsOf(value);
    const network = fieldsOf(settings.network_config);
    const weighed: WeighedKey[] = [];
    listOf(settings.keys).forEach((entry, index) => {
      const key = fieldsOf(entry);
      const path = `${field}.${name}.keys[${index}]`;
      const listed = listOf(key.models).map(String);
      const models = listed.includes('*') ? [] : listed;
      if (key.name !== undefined) report.changed(`${path}.name`, 'left out: a key is named after its variable');
      const base = textOf(network.base_url);
      const own: Record<string, string> = { api_key: 'value', api_base: `${field}.${name}.network_config.base_url` };
      const [id] =
        models.length === 0
          ? [addAllModels(into, { name, key, base, path })]
          : models.flatMap((model, at) => {
              const named = (part: string) => {
                const known = own[part.slice(part.lastIndexOf('.') + 1)] ?? `models[${at}]`;
                return known.includes(' ') ? known : `${path}.${known}`;
              };
              const reading = { ...into, report: new RenamedReport(report, named) };
              return addModel(reading, { name, model, key, base, path: '' }) ?? [];
            });
      for (const part of id === undefined ? ['value', 'weight'] : []) {
        if (key[part] !== undefined && !report.hasLine(`${path}.${part}`))
          report.notTaken(`${path}.${part}`, 'no model of this key was taken');
      }
      if (id !== undefined && key.weight !== undefined) weighed.push({ path: `${path}.weight`, id, key });
    });
    takeWeights(into, weighed);
    for (const other of Object.keys(network)) {
      if (other !== 'base_url') report.changed(`${field}.${name}.network_config.${other}`, ownSettings);
    }
    for (const other of Object.keys(settings)) {
      if (other !== 'keys' && other !== 'network_config') report.changed(`${field}.${name}.${other}`, ownSettings);
    }
  }
}

interface ProviderKey {
  /** The provider, as Bifrost calls it. */
  readonly name: string;
  readonly key: Fields;
  /** Where it is called, where that is said. */
  readonly base: string | null;
  readonly path: string;
}

interface WeighedKey {
  /** Where its weight stands. */
  readonly path: string;
  /** The provider. */
  readonly id: string;
  readonly key: Fields;
}

/** Weights are shares there, and numbers from 1 here. */
function takeWeights({ plan, report }: ModelEntries, weighed: readonly WeighedKey[]): void {
  const numbers = weighed.map(({ key }) => Number(key.weight)).filter((weight) => weight > 0);
  const least = Math.min(...numbers);
  for (const { path, id, key } of weighed) {
    const made = keyWith(plan, id, secretOf(key.value) ?? '');
    const weight = Number((Number(key.weight) / least).toFixed(6));
    if (made === undefined) report.changed(path, 'left out: one key alone needs no weight');
    else if (!(weight >= 1)) report.notTaken(path, 'a weight is at least 1: leave the key out, or give it one');
    else {
      if (weight !== 1) made.weight = weight;
      report[weight === Number(key.weight) ? 'taken' : 'changed'](path, `the weight ${weight} of the key`);
    }
  }
}

/** A key that names no model is one for all models of its provider. Returns the provider; undefined where nothing of it is known. */
function addAllModels(into: ModelEntries, { name, key, base, path }: ProviderKey): string | undefined {
  const { book, report } = into;
  const known = providerNames[name] ?? name;
  const field = key.models === undefined ? path : `${path}.models`;
  const models =
    base === null ? book.routesOf(providerIds[known] ?? known).map(({ upstreamModel }) => upstreamModel) : [];
  const possible = [...new Set(models)].filter((model) => nameFault(`${name}/${model}`) === null);
  if (possible.length === 0) {
    report.changed(field, 'no model is named, and the catalogue has none of this provider: list the models');
    return undefined;
  }
  const scratch = new ImportReport();
  const reading = { ...into, report: scratch };
  const ids = possible.flatMap((model) => addModel(reading, { name, model, key, base, path: '' }) ?? []);
  for (const { field: part, verdict, words } of scratch.lines) {
    if (part.endsWith('.api_key')) report.add(`${path}.value`, verdict, words);
    else if (verdict === 'not taken') report.notTaken(field, words);
  }
  report.changed(field, `no model is named: ${ids.length} names, one for each model that the catalogue has`);
  return ids[0];
}

/** Returns the provider that it is called at; undefined where it cannot be taken over. */
function addModel(
  into: ModelEntries,
  { name, model, key, base, path }: ProviderKey & { readonly model: string },
): string | undefined {
  const params = {
    model: `${providerNames[name] ?? name}/${model}`,
    api_key: secretOf(key.value),
    ...(base !== null && { api_base: base }),
  };
  const deployment = readModelEntry(into, { litellm_params: params }, path);
  if (deployment === null) return undefined;
  const wanted = `${name}/${model}`;
  if (wanted.split('/').length > 2)
    into.report.notTaken(`${path}.model`, `"${wanted.slice(0, 100)}" has the shape of an id`);
  else addName(into, wanted, { model: deployment.id, note: 'was: a model of Bifrost' }, `${path}.model`);
  return deployment.provider;
}

/** Text, or an object that names a variable. */
function secretOf(value: unknown): string | undefined {
  const { env_var: variable, value: literal } = fieldsOf(value);
  return (
    textOf(value) ??
    (textOf(variable) === null ? undefined : `env.${String(variable).replace(/^env\./, '')}`) ??
    textOf(literal) ??
    undefined
  );
}
