/** The names of a LiteLLM configuration: model groups, wildcards, aliases and fallbacks become names with their chains. */
import { isDeepStrictEqual } from 'node:util';
import { isModelName } from '../../catalogue/model-name.js';
import type { Group, Groups, ModelEntries, Named } from './entries.js';
import { defaultsOf, fieldsOfEntry, readModelEntry } from './litellm-models.js';
import { providerIds, splitModel } from './litellm-providers.js';
import type { NamePlan } from './plan.js';
import { ImportReport } from './report.js';
import { type Fields, fieldsOf, listOf, textOf } from './values.js';

/** A chain of a name has at most so many models. */
export const chainMax = 10;

/** Why a text cannot be a name; null where it can. */
export function nameFault(name: string): string | null {
  if (isModelName(name)) return null;
  if (!/^[\x21-\x7e]{1,200}$/.test(name))
    return 'is no name, which has 1 to 200 printable ASCII characters without spaces: rename it, and where it is used';
  if (name.split('/').length > 2)
    return 'has the shape of an id, because a name has at most one "/": rename it, and where it is used';
  return 'begins with auto/ or alias/, which names cannot: rename it, and where it is used';
}

/** Reads an entry of a model list, from a file or a database. */
export function readEntry(into: ModelEntries, entry: Fields, path: string): void {
  const { report } = into;
  const name = textOf(entry.model_name);
  report.expect(fieldsOfEntry(entry, path));
  if (name === null) report.notTaken(`${path}.model_name`, 'missing: a model without a name cannot be asked for');
  else if (name.includes('*')) return void into.groups.wildcards.push({ name, entry, path });
  else addEntry(into, { name, entry, path });
  addLeftOut(report, entry, path);
}

function addLeftOut(report: ImportReport, entry: Fields, path: string): void {
  const fields = fieldsOfEntry(entry, path).filter((field) => field !== `${path}.model_name`);
  report.addRest(fields, 'not taken', 'its entry was not taken, as the line of its name or its model says');
}

function addEntry(into: ModelEntries, { name, entry, path }: Named): void {
  const { report, groups, plan } = into;
  const fault = nameFault(name);
  if (fault !== null) return void report.notTaken(`${path}.model_name`, `"${name.slice(0, 100)}" ${fault}`);
  const deployment = readModelEntry(into, entry, path);
  if (deployment === null) {
    return void report.notTaken(`${path}.model_name`, `the model of "${name}" cannot be served, as its line says`);
  }
  const params = fieldsOf(entry.litellm_params);
  const defaults = defaultsOf(into, params);
  const known = groups.byName.get(name);
  const group = known ?? { fields: [], deployments: [], defaults, note: `was: ${textOf(params.model)}`.slice(0, 900) };
  groups.byName.set(name, group);
  group.fields.push(`${path}.model_name`);
  group.deployments.push(deployment);
  for (const each of listOf(fieldsOf(entry.model_info).access_groups).map(String)) {
    plan.accessGroups.set(each, (plan.accessGroups.get(each) ?? new Set()).add(name));
  }
  for (const field of new Set([...Object.keys(defaults), ...Object.keys(group.defaults)])) {
    if (JSON.stringify(defaults[field]) === JSON.stringify(group.defaults[field])) continue;
    report.notTaken(
      `${path}.litellm_params.${field}`,
      `one name has one set of defaults, and the first entry of "${name}" has another`,
    );
  }
}

/** `openai/*`: a name for each model of the provider in the catalogue. */
function addWildcard(into: ModelEntries, { name, entry, path }: Named): void {
  const { report } = into;
  const params = fieldsOf(entry.litellm_params);
  const models = wildcardModels(into, name, params);
  const field = `${path}.model_name`;
  if (models === null) {
    return void report.notTaken(field, 'a wildcard of one provider is taken, such as openai/* for openai/*');
  }
  const impossible = models.filter((each) => nameFault(each.name) !== null);
  const possible = models.filter((each) => nameFault(each.name) === null && !into.groups.byName.has(each.name));
  let first: ImportReport | undefined;
  for (const each of possible) {
    const scratch = { ...into, report: new ImportReport() };
    addEntry(scratch, { name: each.name, entry: { ...entry, litellm_params: { ...params, model: each.model } }, path });
    into.groups.byName.get(each.name)?.fields.pop();
    first ??= scratch.report;
  }
  for (const line of first?.lines ?? []) {
    if (line.field !== `${path}.litellm_params.model`) report.add(line.field, line.verdict, line.words);
  }
  if (models.length === 0) report.notTaken(field, 'the catalogue has no such model of this provider');
  else report.changed(field, `\`${name}\`: ${possible.length} names, one for each model that the catalogue has`);
  if (impossible.length > 0) {
    report.notTaken(
      field,
      `${impossible.length} models would have names with two "/", such as "${impossible[0]!.name}"`,
    );
  }
  if (models.length > 0) report.changed(`${path}.litellm_params.model`, 'one name for each model');
}

function wildcardModels(
  { book }: ModelEntries,
  name: string,
  params: Fields,
): { name: string; model: string }[] | null {
  const stated = textOf(params.model) ?? '';
  const { name: provider, model } = splitModel(stated, textOf(params.custom_llm_provider));
  const [before, after, ...more] = model.split('*');
  if (!stated.includes('/') || after === undefined || more.length > 0 || name.split('*').length !== 2) return null;
  const routes = book.routesOf(providerIds[provider] ?? provider).map(({ upstreamModel }) => upstreamModel);
  return [...new Set(routes)]
    .filter((each) => each.length >= model.length - 1 && each.startsWith(before!) && each.endsWith(after))
    .map((each) => ({
      name: name.replace('*', each.slice(before!.length, each.length - after.length)),
      model: `${provider}/${each}`,
    }));
}

/** The names of all sources, when they have been read. */
export function finishNames(into: ModelEntries): void {
  const { groups, plan, report, takenNames } = into;
  for (const wildcard of groups.wildcards) {
    addWildcard(into, wildcard);
    addLeftOut(report, wildcard.entry, wildcard.path);
  }
  for (const [name, group] of groups.byName) {
    if (takenNames.has(name)) {
      for (const field of group.fields) report.notTaken(field, elsewhere(name));
      continue;
    }
    const { made, changed } = nameOf(group);
    plan.names.set(name, made);
    for (const [index, field] of group.fields.entries()) {
      if (changed !== null) report.changed(field, `the name \`${name}\`: ${changed}`);
      else
        report.taken(field, `the name \`${name}\`: \`${made.model}\`${index > 0 ? ', with the entries before' : ''}`);
    }
  }
  const aliasesOf = new Map([...groups.aliases].map(([alias]) => [alias, resolvedAlias(groups, alias)]));
  const chains = chainsOf(into, aliasesOf);
  for (const name of groups.byName.keys()) setChain(into, name, chains.get(name));
  addAliases(into, aliasesOf);
  for (const name of groups.aliases.keys()) setChain(into, name, chains.get(name));
  const rest = chains.get('*');
  for (const [name, { fallback }] of rest ? plan.names : []) if (!fallback) setChain(into, name, rest);
}

/** Adds a name of a source that has no lists of models. False where it is not taken. */
export function addName({ plan, report, takenNames }: ModelEntries, name: string, made: NamePlan, field: string) {
  const known = plan.names.get(name);
  const isOther = known !== undefined && !isDeepStrictEqual(known, made);
  if (takenNames.has(name)) report.notTaken(field, elsewhere(name));
  else if (isOther) report.notTaken(field, `"${name}" stands for something else already: rename one of them`);
  else plan.names.set(name, made);
  return plan.names.get(name) === made;
}

const elsewhere = (name: string) => `the gateway has a name "${name}" from elsewhere, which stays: rename one of them`;

/** One model at several providers is an `auto/` id of these; of different models the first, with the others as its chain. */
function nameOf({ deployments, defaults, note }: Group): { made: NamePlan; changed: string | null } {
  const ids = [...new Set(deployments.map(({ id }) => id))];
  const models = new Set(deployments.map(({ canonicalId }) => canonicalId));
  const more = { ...(Object.keys(defaults).length > 0 && { defaults }), note };
  if (ids.length === 1) return { made: { model: ids[0]!, ...more }, changed: null };
  if (models.size === 1) {
    const only = [...new Set(deployments.map(({ provider }) => provider))];
    return { made: { model: `auto/${deployments[0]!.canonicalId}`, provider: { only }, ...more }, changed: null };
  }
  const [first, ...rest] = ids;
  const chain = rest.slice(0, chainMax);
  const left = rest.length - chain.length;
  return {
    made: { model: first!, fallback: { models: chain }, ...more },
    changed:
      `different models under one name: \`${first}\`, then ${chain.map((id) => `\`${id}\``).join(', ')} where it fails` +
      (left > 0 ? `; a chain has ${chainMax}, so the last ${left} are left out` : ''),
  };
}

/** The chain of each name. LiteLLM does not read those of litellm_settings where router_settings has its own. */
function chainsOf(into: ModelEntries, aliases: ReadonlyMap<string, string | null>): Map<string, string[]> {
  const { groups, report } = into;
  const chains = new Map<string, string[]>();
  const ofRouter = groups.rules.filter(({ section }) => section === 'router_settings').map(({ name }) => name === '*');
  const overruled = new Set(ofRouter);
  const isOverruled = (section: string, name: string) => section !== 'router_settings' && overruled.has(name === '*');
  for (const { section, name, field, models } of groups.rules) {
    const fields = models.map((_, index) => `${field}[${index}]`);
    if (isOverruled(section, name)) {
      report.addRest([field, ...fields], 'not taken', 'LiteLLM reads the fallbacks of router_settings in their place');
    } else if (name !== '*' && !groups.byName.has(name) && !groups.aliases.has(name)) {
      report.addRest([field, ...fields], 'not taken', `the model list has no "${name.slice(0, 100)}"`);
    } else {
      const ids = models.flatMap((value, index) => chainIds(into, aliases, value, fields[index]!));
      chains.set(name, [...(chains.get(name) ?? []), ...ids]);
      if (fields.length === 0) report.taken(field, 'no fallbacks');
    }
  }
  return chains;
}

/** Chains hold ids, so each name stands for what serves it. */
function chainIds(
  { plan, report, groups }: ModelEntries,
  aliases: ReadonlyMap<string, string | null>,
  value: unknown,
  field: string,
): string[] {
  const stated = textOf(value) ?? textOf(fieldsOf(value).model);
  const name = stated === null ? null : (aliases.get(stated) ?? stated);
  const known = name === null ? undefined : plan.names.get(name);
  if (!known) {
    report.notTaken(field, `the model list has no "${String(stated ?? 'name').slice(0, 100)}"`);
    return [];
  }
  if (Object.keys(fieldsOf(value)).some((key) => key !== 'model'))
    report.notTaken(field, 'a fallback has no parameters of its own');
  report.taken(field, `\`${known.model}\` in the chain`);
  return known.provider === undefined ? [known.model] : groups.byName.get(name!)!.deployments.map(({ id }) => id);
}

/** After the other models of the name itself, which LiteLLM tries first. */
function setChain({ plan, report, groups }: ModelEntries, name: string, chain: readonly string[] | undefined): void {
  const made = plan.names.get(name);
  if (!made || !chain) return;
  const own = groups.byName.get(name)?.deployments.map(({ id }) => id) ?? [];
  const later = chain.filter((id) => id !== made.model && !(made.provider && own.includes(id)));
  const models = [...new Set([...(groups.byName.has(name) ? (made.fallback?.models ?? []) : []), ...later])];
  if (models.length === 0) return;
  made.fallback = { models: models.slice(0, chainMax) };
  if (models.length > chainMax) {
    const fields = groups.rules.filter((rule) => rule.name === name || rule.name === '*').map(({ field }) => field);
    for (const field of fields.slice(0, 1)) {
      report.changed(
        field,
        `a chain of "${name}" has ${chainMax} models: the last ${models.length - chainMax} are left out`,
      );
    }
  }
}

function addAliases(
  { plan, report, groups, takenNames }: ModelEntries,
  targets: ReadonlyMap<string, string | null>,
): void {
  for (const [alias, { field, target: stated }] of groups.aliases) {
    const target = targets.get(alias) ?? null;
    const known = target === null ? undefined : plan.names.get(target);
    const fault = nameFault(alias);
    if (fault !== null) report.notTaken(field, `"${alias.slice(0, 100)}" ${fault}`);
    else if (stated === null) report.notTaken(field, 'no model is named');
    else if (target === null) report.notTaken(field, 'the aliases go in a circle');
    else if (groups.byName.has(alias)) report.notTaken(field, 'the model list has this name too');
    else if (!known) report.notTaken(field, `the model list has no "${target.slice(0, 100)}"`);
    else if (takenNames.has(alias)) report.notTaken(field, elsewhere(alias));
    else {
      plan.names.set(alias, { ...known, note: `was: alias of ${target}` });
      report.taken(field, `the name \`${alias}\`: \`${known.model}\``);
    }
  }
}

/** The name at the end of a chain of aliases; null where it has no end. */
function resolvedAlias({ aliases }: Groups, first: string): string | null {
  const seen = new Set<string>();
  let name: string | null = first;
  while (name !== null && aliases.has(name)) {
    if (seen.has(name)) return null;
    seen.add(name);
    name = aliases.get(name)!.target;
  }
  return name;
}
