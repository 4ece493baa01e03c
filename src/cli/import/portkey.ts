/** Reads a Portkey config: its targets become a name with a chain. */

import type { Deployment, ModelEntries } from './entries.js';
import { readModelEntry } from './litellm-models.js';
import { nameFault } from './litellm-names.js';
import { noSetting } from './report.js';
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
  const { plan, report } = into;
  const fault = nameFault(name);
  if (fault !== null)
    return void report.notTaken(`${file} name`, `"${name.slice(0, 100)}" ${fault}: give one with --name`);
  const mode = textOf(fieldsOf(config.strategy).mode) ?? 'single';
  const targets = listOf(config.targets).length > 0 ? listOf(config.targets).map(fieldsOf) : [config];
  if (mode === 'conditional')
    return void report.notTaken(
      `${file} strategy`,
      'conditions on a request have no counterpart: let the client choose a name',
    );
  const ordered = mode === 'loadbalance' ? byWeight(targets) : targets;
  const found: Deployment[] = [];
  for (const { target, place } of ordered.map((target) => ({ target, place: targets.indexOf(target) }))) {
    const deployment = readTarget(
      into,
      target,
      listOf(config.targets).length > 0 ? `${file} targets[${place}]` : `${file} `,
    );
    if (deployment) found.push(deployment);
  }
  reportRest(into, config, file);
  const [first, ...rest] = found;
  if (!first) return void report.notTaken(`${file} targets`, 'no target names a model that is known');
  const chain = rest.map(({ id }) => id).filter((id) => id !== first.id);
  const defaults = withoutModel(fieldsOf((ordered[0] ?? config).override_params ?? config.override_params));
  plan.names.set(name, {
    model: first.id,
    ...(chain.length > 0 && { fallback: { models: chain } }),
    ...(Object.keys(defaults).length > 0 && { defaults }),
    note: `was: a Portkey config (${mode})`,
  });
  const made = `the name \`${name}\`: \`${first.id}\`${chain.length > 0 ? `, then ${chain.map((id) => `\`${id}\``).join(', ')}` : ''}`;
  if (mode === 'loadbalance') report.changed(`${file} strategy`, `${made}; shares became an order`);
  else report.taken(`${file} strategy`, made);
}

function readTarget(into: ModelEntries, target: Fields, field: string): Deployment | null {
  const override = fieldsOf(target.override_params);
  const provider = textOf(target.provider)?.replace(/^@/, '') ?? null;
  const model = textOf(override.model);
  if (Array.isArray(target.targets)) {
    into.report.notTaken(`${field}.targets`, 'targets inside of targets: make a config of their own of them');
    return null;
  }
  if (provider === null || model === null) {
    const missing = provider === null ? 'provider' : 'override_params.model';
    into.report.notTaken(`${field}.${missing}`, 'missing: a name needs a provider and a model');
    return null;
  }
  const params = {
    model: `${providerNames[provider] ?? provider}/${model}`,
    ...(textOf(target.api_key) !== null && { api_key: target.api_key }),
    ...(textOf(target.custom_host) !== null && { api_base: target.custom_host }),
  };
  for (const name of Object.keys(target)) if (name in whyNot) into.report.notTaken(`${field}.${name}`, whyNot[name]!);
  for (const name of Object.keys(withoutModel(override)))
    into.report.taken(`${field}.override_params.${name}`, 'a default of the name');
  return readModelEntry(into, { litellm_params: params }, field);
}

function reportRest({ report }: ModelEntries, config: Fields, file: string): void {
  for (const name of Object.keys(config)) {
    if (['strategy', 'targets', 'override_params', 'provider', 'api_key'].includes(name)) continue;
    report.notTaken(`${file} ${name}`, whyNot[name] ?? noSetting);
  }
}

const withoutModel = ({ model: _model, ...rest }: Fields) => rest;

const weightOf = ({ weight }: Fields) => (typeof weight === 'number' ? weight : 1);

function byWeight(targets: readonly Fields[]): Fields[] {
  return [...targets].sort((a, b) => weightOf(b) - weightOf(a));
}
