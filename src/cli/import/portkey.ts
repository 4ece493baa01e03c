/** Reads a Portkey config: its targets become a name with a chain. */

import type { Deployment, ModelEntries } from './entries.js';
import { readModelEntry } from './litellm-models.js';
import { nameFault } from './litellm-names.js';
import { noSetting } from './report.js';
import { fieldsWithin, RenamedReport, reportLeft } from './source-fields.js';
import { type Fields, fieldsOf, listOf, textOf } from './values.js';

/** Portkey's names of providers, as LiteLLM has them. */
const providerNames: Record<string, string> = {
  ...{ 'azure-openai': 'azure', 'vertex-ai': 'vertex_ai', google: 'gemini', 'together-ai': 'together_ai' },
  ...{ 'fireworks-ai': 'fireworks_ai', 'mistral-ai': 'mistral', 'x-ai': 'xai' },
};
const whyNot: Record<string, string> = {
  retry: 'a failed route is not called again; the next of the chain is',
  cache: 'answers are not kept, so none can be given to another caller',
  request_timeout: 'time budgets hold for the whole gateway: set timeouts in lodestone.yaml',
  weight: 'a share of requests cannot be set: the targets are a chain in the order of their weights',
  virtual_key: 'the credential is in Portkey’s vault: give the provider its key in lodestone.yaml',
};

export function readPortkeyConfig(into: ModelEntries, config: Fields, name: string, file: string): void {
  const { report } = into;
  const fields = fieldsWithin(file, config);
  report.expect([file, ...fields]);
  const fault = nameFault(name);
  if (fault !== null) {
    report.notTaken(file, `"${name.slice(0, 100)}" ${fault}: give one with --name`);
  } else readStrategy(into, config, name, file);
  for (const [setting, words] of Object.entries(whyNot)) {
    if (config[setting] !== undefined && fields.includes(`${file} ${setting}`))
      report.notTaken(`${file} ${setting}`, words);
  }
  const isTaken = into.plan.names.has(name);
  reportLeft(report, fields, isTaken ? noSetting : 'its config was not taken, as another line of it says');
}

function readStrategy(into: ModelEntries, config: Fields, name: string, file: string): void {
  const { plan, report } = into;
  const mode = textOf(fieldsOf(config.strategy).mode) ?? 'single';
  if (mode === 'conditional') {
    return void report.notTaken(
      `${file} strategy`,
      'conditions on a request have no counterpart: let the client choose a name',
    );
  }
  const listed = listOf(config.targets).map((target, index) => ({
    target: fieldsOf(target),
    at: `${file} targets[${index}].`,
  }));
  const targets = listed.length > 0 ? listed : [{ target: config, at: `${file} ` }];
  const ordered = mode === 'loadbalance' ? byWeight(targets) : targets;
  const found = ordered.flatMap(({ target, at }) => readTarget(into, target, at) ?? []);
  const [first, ...rest] = found;
  const field = config.strategy === undefined ? file : `${file} strategy`;
  if (!first) return void report.notTaken(field, 'no target names a model that is known');
  const chain = [...new Set(rest.map(({ id }) => id))].filter((id) => id !== first.id);
  const defaults = {
    ...withoutModel(fieldsOf(config.override_params)),
    ...withoutModel(overrideOf(ordered[0]!.target)),
  };
  plan.names.set(name, {
    model: first.id,
    ...(chain.length > 0 && { fallback: { models: chain } }),
    ...(Object.keys(defaults).length > 0 && { defaults }),
    note: `was: a Portkey config (${mode})`,
  });
  if (listed.length > 0) {
    for (const each of Object.keys(withoutModel(fieldsOf(config.override_params))))
      report.taken(`${file} override_params.${each}`, 'a default of the name');
  }
  const made = `the name \`${name}\`: \`${first.id}\`${chain.length > 0 ? `, then ${chain.map((id) => `\`${id}\``).join(', ')}` : ''}`;
  if (mode === 'loadbalance') report.changed(field, `${made}; shares became an order`);
  else report.taken(field, made);
}

/** `at` is what the names of its fields begin with. */
function readTarget(into: ModelEntries, target: Fields, at: string): Deployment | null {
  const { report } = into;
  const override = overrideOf(target);
  const provider = textOf(target.provider)?.replace(/^@/, '') ?? null;
  const model = textOf(override.model);
  if (Array.isArray(target.targets) && !at.endsWith(' ')) {
    report.notTaken(`${at}targets`, 'targets inside of targets: make a config of their own of them');
    return null;
  }
  if (provider === null || model === null) {
    const missing = provider === null ? 'provider' : 'override_params.model';
    report.notTaken(`${at}${missing}`, 'missing: a name needs a provider and a model');
    return null;
  }
  const params = {
    model: `${providerNames[provider] ?? provider}/${model}`,
    ...(textOf(target.api_key) !== null && { api_key: target.api_key }),
    ...(textOf(target.custom_host) !== null && { api_base: target.custom_host }),
  };
  for (const name of Object.keys(target)) if (name in whyNot) report.notTaken(`${at}${name}`, whyNot[name]!);
  report.taken(`${at}provider`, 'with its model');
  for (const name of Object.keys(withoutModel(override)))
    report.taken(`${at}override_params.${name}`, 'a default of the name');
  const named = (field: string) => `${at}${ownFields[field.slice(field.lastIndexOf('.') + 1)] ?? 'provider'}`;
  return readModelEntry({ ...into, report: new RenamedReport(report, named) }, { litellm_params: params }, '');
}

/** Portkey's fields, by those of the entry that is made of them. */
const ownFields: Record<string, string> = {
  model: 'override_params.model',
  api_key: 'api_key',
  api_base: 'custom_host',
};

const overrideOf = (target: Fields) => fieldsOf(target.override_params);

const withoutModel = ({ model: _model, ...rest }: Fields) => rest;

const weightOf = ({ weight }: Fields) => (typeof weight === 'number' ? weight : 1);

function byWeight<T extends { target: Fields }>(targets: readonly T[]): T[] {
  return [...targets].sort((a, b) => weightOf(b.target) - weightOf(a.target));
}
