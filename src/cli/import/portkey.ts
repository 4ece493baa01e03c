/** Reads a Portkey config: its targets become a name with a chain. */

import { isDeepStrictEqual } from 'node:util';
import type { Deployment, ModelEntries } from './entries.js';
import { readModelEntry } from './litellm-models.js';
import { addName, chainMax, nameFault } from './litellm-names.js';
import { fieldsWithin, RenamedReport, reportLeft } from './source-fields.js';
import { type Fields, fieldsOf, listOf, textOf } from './values.js';

/** Portkey's names of providers, as LiteLLM has them. */
const providerNames: Record<string, string> = {
  ...{ 'azure-openai': 'azure', 'vertex-ai': 'vertex_ai', google: 'gemini', 'together-ai': 'together_ai' },
  ...{ 'fireworks-ai': 'fireworks_ai', 'mistral-ai': 'mistral', 'x-ai': 'xai' },
};
const modes: ReadonlySet<string> = new Set(['single', 'fallback', 'loadbalance']);
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
  }
  const isTaken = fault === null && readStrategy(into, config, name, file);
  for (const [setting, words] of Object.entries(whyNot)) {
    if (config[setting] !== undefined && fields.includes(`${file} ${setting}`))
      report.notTaken(`${file} ${setting}`, words);
  }
  const words = 'its config was not taken, as another line of it says';
  reportLeft(report, { file, config, ...(!isTaken && { words }) });
}

function readStrategy(into: ModelEntries, config: Fields, name: string, file: string): boolean {
  const { report } = into;
  const mode = textOf(fieldsOf(config.strategy).mode) ?? 'single';
  if (mode === 'conditional') {
    report.notTaken(`${file} strategy`, 'conditions on a request have no counterpart: let the client choose a name');
    return false;
  }
  if (!modes.has(mode)) {
    report.notTaken(`${file} strategy.mode`, `"${mode.slice(0, 40)}" is no mode that this import knows`);
    return false;
  }
  const listed = listOf(config.targets).map((target, index) => ({
    target: fieldsOf(target),
    at: `${file} targets[${index}].`,
  }));
  const targets = listed.length > 0 ? listed : [{ target: config, at: `${file} ` }];
  const ordered = mode === 'loadbalance' ? byWeight(targets) : mode === 'single' ? targets.slice(0, 1) : targets;
  for (const { at } of targets.slice(ordered.length))
    report.changed(at.slice(0, -1), 'left out: of several targets, the mode `single` uses the first');
  const found = ordered.flatMap((each) => {
    const deployment = readTarget(into, each.target, each.at);
    return deployment === null ? [] : { ...each, deployment };
  });
  const [first, ...rest] = found;
  const field = config.strategy === undefined ? file : `${file} strategy`;
  if (!first) {
    report.notTaken(field, 'no target names a model that is known');
    return false;
  }
  const { id } = first.deployment;
  const later = [...new Set(rest.map(({ deployment }) => deployment.id))].filter((each) => each !== id);
  const chain = later.slice(0, chainMax);
  const defaults = takeOverrides(into, fieldsOf(config.override_params), found, file);
  const made = {
    model: id,
    ...(chain.length > 0 && { fallback: { models: chain } }),
    ...(Object.keys(defaults).length > 0 && { defaults }),
    note: `was: a Portkey config (${mode})`,
  };
  if (!addName(into, name, made, field)) return false;
  const words = `the name \`${name}\`: \`${id}\`${chain.length > 0 ? `, then ${chain.map((each) => `\`${each}\``).join(', ')}` : ''}`;
  if (later.length > chainMax)
    report.changed(field, `a chain has ${chainMax} models: the last ${later.length - chainMax} are left out`);
  if (mode === 'loadbalance') report.changed(field, `${words}; shares became an order`);
  else report.taken(field, words);
  if (fieldsOf(config.strategy).on_status_codes !== undefined) {
    const how = 'left out: a chain is walked after every answer of 503 or 504, whatever the provider’s status was';
    report.changed(`${file} strategy.on_status_codes`, how);
  }
  return true;
}

interface FoundTarget {
  readonly target: Fields;
  readonly at: string;
}

/** The defaults of the name: the overrides of its first target, over those that all targets share. */
function takeOverrides(
  { report, defaultFault }: ModelEntries,
  shared: Fields,
  found: readonly FoundTarget[],
  file: string,
): Fields {
  const common = withoutModel(shared);
  const all = found.map(({ target }) => ({ ...common, ...withoutModel(overrideOf(target)) }));
  const isDefault = ([name, value]: [string, unknown]) => value !== null && defaultFault(name, value) === null;
  const defaults = Object.fromEntries(Object.entries(all[0]!).filter(isDefault));
  for (const [index, { target, at }] of found.entries()) {
    for (const [name, value] of Object.entries(all[index]!)) {
      const field = `${name in overrideOf(target) ? at : `${file} `}override_params.${name}`;
      const fault = defaultFault(name, value);
      if (fault !== null) report.notTaken(field, fault);
      else if (!isDeepStrictEqual(defaults[name] ?? null, value))
        report.notTaken(field, 'one name has one set of defaults, and the first target has another');
      else if (all.some((each) => !(name in each)))
        report.changed(field, 'a default of the name, for every model of its chain');
      else report.taken(field, 'a default of the name');
    }
  }
  const unused = Object.keys(common).map((name) => `${file} override_params.${name}`);
  report.addRest(unused, 'changed', 'left out: every target has its own');
  return defaults;
}

/** `at` is what the names of its fields begin with. */
function readTarget(into: ModelEntries, target: Fields, at: string): Deployment | null {
  const deployment = deploymentOf(into, target, at);
  const overrides = Object.keys(withoutModel(overrideOf(target))).map((name) => `${at}override_params.${name}`);
  if (deployment === null)
    into.report.addRest(overrides, 'not taken', 'its target was not taken, as another line of it says');
  return deployment;
}

function deploymentOf(into: ModelEntries, target: Fields, at: string): Deployment | null {
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
