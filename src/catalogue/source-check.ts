/**
 * The strict check of a catalogue: every figure has a source and a date, and a person has verified every entry. What is missing becomes
 * a fault at its position; old figures are listed. The sandbox has no figures of a real provider, so nothing is asked of it.
 */
import type { FieldPath, YamlSource } from '../base/yaml-source.js';
import type { Located, ModelEntry, RouteEntry } from './catalogue-file.js';
import { dateMs, dayMs } from './dates.js';
import type { ProviderEntry, RegionEntry } from './entry-schema.js';
import type { MergedCatalogue } from './load-catalogue.js';
import type { Provenance, StatedProvenance } from './provenance.js';

interface AgeLimit {
  readonly nowMs: number;
  readonly maxAgeMs: number;
}

/** A figure whose date is older than asked for. */
export interface OldFigure {
  /** `file:line`. */
  readonly at: string;
  readonly what: string;
  readonly asOf: string;
  readonly days: number;
}

/** A group of figures that one source and one date stand for. */
interface Figures {
  readonly source: YamlSource;
  readonly path: FieldPath;
  /** Such as `the price of acme/meta/llama/defra`. */
  readonly what: string;
  readonly provenance: Provenance;
}

/** Adds faults to the sources of the catalogue, and returns the old figures. */
export function checkSources(merged: MergedCatalogue, limit: AgeLimit): OldFigure[] {
  const old: OldFigure[] = [];
  for (const figures of figuresOf(merged)) {
    const found = checkFigures(figures, limit);
    if (found) old.push(found);
  }
  for (const [id, model] of merged.models) {
    checkDraft(model, id);
    for (const route of model.entry.routes) checkDraft(route, `${route.entry.provider}/${id}/${route.entry.locode}`);
  }
  return old;
}

function checkDraft({ entry, source, path }: Located<Pick<RouteEntry, 'draft'>>, id: string): void {
  if (!entry.draft) return;
  const expected = "its figures compared with the provider's page by a person, who then takes `draft` out";
  source.faultAt([...path, 'draft'], `found a draft of ${id}, expected ${expected}`);
}

function checkFigures({ source, path, what, provenance }: Figures, limit: AgeLimit): OldFigure | undefined {
  if (provenance.source === null) source.faultAt([...path, 'source'], `found nothing, expected where ${what} is from`);
  if (provenance.asOf === null) {
    source.faultAt([...path, 'as_of'], `found nothing, expected the date of ${what}`);
    return undefined;
  }
  const atMs = dateMs(provenance.asOf);
  if (atMs === undefined) {
    const expected = `a date such as 2026-08-21, 2026-08 or 2026 for ${what}`;
    source.faultAt([...path, 'as_of'], `found ${JSON.stringify(provenance.asOf)}, expected ${expected}`);
    return undefined;
  }
  const { nowMs, maxAgeMs } = limit;
  if (nowMs - atMs <= maxAgeMs) return undefined;
  const days = Math.floor((nowMs - atMs) / dayMs);
  return { at: `${source.file}:${source.lineOf(path)}`, what, asOf: provenance.asOf, days };
}

function* figuresOf({ providers, regions, models, currencies }: MergedCatalogue): Generator<Figures> {
  const isSandbox = (id: string) => providers.get(id)?.entry.dialect === 'sandbox';
  for (const [id, provider] of providers) if (!isSandbox(id)) yield* providerFigures(provider);
  for (const region of regions.values()) yield* regionFigures(region);
  for (const rate of currencies.values()) {
    if (rate) yield { ...rate.place, what: `the rate of ${rate.code}`, provenance: rate };
  }
  for (const model of models.values()) {
    const routes = model.entry.routes.filter(({ entry }) => !isSandbox(entry.provider));
    if (routes.length > 0) yield* modelFigures(model);
    for (const route of routes) yield* routeFigures(route, model);
  }
}

function* providerFigures({ entry, source, path }: Located<ProviderEntry>): Generator<Figures> {
  const stated = statedFields(entry, ['headquarters', 'cloud_act', 'excluded_territories']);
  if (stated) yield { source, path, what: `${stated} of ${entry.id}`, provenance: provenanceOf(entry) };
  yield* policyFigures(entry.data_policy, { source, path }, entry.id);
}

function* regionFigures({ entry, source, path }: Located<RegionEntry>): Generator<Figures> {
  const stated = statedFields(entry, ['lat', 'lon', 'carbon']);
  if (stated) yield { source, path, what: `${stated} of ${entry.locode}`, provenance: provenanceOf(entry) };
}

const life = ['released', 'deprecated'] as const;
const limits = ['context_window', 'max_output_tokens'] as const;

function* modelFigures({ entry, source, path }: Located<ModelEntry>): Generator<Figures> {
  const stated = statedFields(entry, [...limits, 'max_input_tokens', 'dimensions', 'excluded_territories', ...life]);
  const id = `${entry.creator}/${entry.model}`;
  if (stated) yield { source, path, what: `${stated} of ${id}`, provenance: provenanceOf(entry) };
}

function* routeFigures(
  { entry, source, path }: Located<RouteEntry>,
  { entry: model }: Located<ModelEntry>,
): Generator<Figures> {
  const id = `${entry.provider}/${model.creator}/${model.model}/${entry.locode}`;
  const own = provenanceOf(entry);
  if (entry.price) {
    const provenance = entry.price.provenance ?? own;
    yield { source, path: [...path, 'price'], what: `the price of ${id}`, provenance };
  }
  const facts = statedFields(entry, ['carbon', 'quantization', ...life]);
  if (facts) yield { source, path, what: `${facts} of ${id}`, provenance: own };
  // Limits that differ by provider stand in the same tables as those of the model.
  const differing = statedFields(entry, limits);
  if (differing) {
    const provenance = own.source === null ? provenanceOf(model) : own;
    yield { source, path, what: `${differing} of ${id}`, provenance };
  }
  yield* policyFigures(entry.data_policy, { source, path }, id);
}

const policyFields = ['trains', 'retention_days', 'zdr', 'in_region', 'eu_owned', 'certifications'] as const;

function* policyFigures(
  policy: ProviderEntry['data_policy'],
  { source, path }: Pick<Figures, 'source' | 'path'>,
  id: string,
): Generator<Figures> {
  if (!policy || !statedFields(policy, policyFields)) return;
  const at = [...path, 'data_policy'];
  yield { source, path: at, what: `the data policy of ${id}`, provenance: provenanceOf(policy) };
}

/** The names of the fields that have a value; empty where none has. */
function statedFields<Entry extends object>(entry: Entry, names: readonly (keyof Entry & string)[]): string {
  return names.filter((name) => (entry[name] ?? null) !== null).join(', ');
}

function provenanceOf({ source, as_of }: StatedProvenance): Provenance {
  return { source: source || null, asOf: as_of || null };
}
