/**
 * The figures of a report. Grid intensity is that of the grids where requests were served (gCO2e/kWh), weighted by tokens, from today's
 * catalogue; `carbon_requests` says for how many requests it is known. Nobody publishes the energy of a token, so no amount is derived.
 */
import { usdText } from '../../base/money.js';
import type { Snapshot } from '../../catalogue/route.js';
import type { ReportGroup, ReportRow } from '../../storage/store.js';

/** The segments of a four-segment id that name a member of a group. Other groups have no grid intensity. */
const memberOf: Partial<Record<ReportGroup, (routeId: string) => string>> = {
  model: (id) => id.split('/').slice(1, 3).join('/'),
  provider: (id) => id.split('/', 1)[0] ?? '',
  locode: (id) => id.split('/')[3] ?? '',
};

/** What requests without a member of a group are called. */
const nobody: Partial<Record<ReportGroup, string>> = { holder: 'Keys of the project', end_user: 'No end user' };

type Sums = Omit<ReportRow, 'group' | 'step' | 'id'>;

const none: Sums = {
  ...{ requests: 0, errors: 0, costPico: 0n, promptTokens: 0, completionTokens: 0, cachedTokens: 0 },
  ...{ firstByteP50Ms: null, firstByteP95Ms: null },
};

export class ReportFigures {
  private readonly steps: Map<number, ReportRow>;
  private readonly stepIntensities = new Map<number, Weight[]>();
  private readonly routes: readonly ReportRow[];

  constructor(
    private readonly rows: readonly ReportRow[],
    private readonly snapshot: Snapshot | null,
  ) {
    const of = (group: ReportRow['group']) => rows.filter((row) => row.group === group);
    this.routes = of('route');
    this.steps = new Map(of('step').map((row) => [row.step ?? 0, row]));
    for (const row of of('step_intensity')) {
      const step = row.step ?? 0;
      const weight = { row, carbon: row.id === null ? null : Number(row.id) };
      this.stepIntensities.set(step, [...(this.stepIntensities.get(step) ?? []), weight]);
    }
  }

  period() {
    return this.figures(
      this.rows.find(({ group }) => group === 'period') ?? none,
      this.routes.map((row) => this.weightOf(row)),
    );
  }

  /** The period without its grid intensity, which takes sums by route. */
  comparison() {
    return sumsOf(this.rows.find(({ group }) => group === 'period') ?? none);
  }

  step(step: number) {
    return this.figures(this.steps.get(step) ?? none, this.stepIntensities.get(step) ?? []);
  }

  /** A step without its grid intensity. */
  stepSums(step: number) {
    return sumsOf(this.steps.get(step) ?? none);
  }

  /**
   * The members of a group, the most expensive first, then the most used. An `id` of null is what nobody served, so that the members
   * add up to the period.
   */
  members(group: ReportGroup, names: ReadonlyMap<string, string> | null) {
    const rows: (Sums & { id: string | null })[] = this.rows.filter((row) => row.group === group);
    const failed = group === 'provider' ? this.failuresByProvider() : null;
    const silent = [...(failed?.keys() ?? [])].filter((id) => !rows.some((row) => row.id === id));
    const all = [...rows, ...silent.map((id) => ({ ...none, id }))];
    all.sort((a, b) => (a.costPico === b.costPico ? b.requests - a.requests : a.costPico < b.costPico ? 1 : -1));
    const weights = this.weightsBy(group);
    return all.map((row) => ({
      id: row.id,
      ...this.describe(group, row.id, names),
      ...this.figures(row, (row.id !== null && weights.get(row.id)) || []),
      ...(failed && { failed_attempts: row.id === null ? 0 : (failed.get(row.id) ?? 0) }),
    }));
  }

  /** The routes of each member. There are hundreds of both. */
  private weightsBy(group: ReportGroup): Map<string, Weight[]> {
    const weights = new Map<string, Weight[]>();
    const named = memberOf[group];
    if (!named) return weights;
    for (const route of this.routes) {
      if (route.id === null) continue;
      const member = named(route.id);
      const known = weights.get(member);
      if (known) known.push(this.weightOf(route));
      else weights.set(member, [this.weightOf(route)]);
    }
    return weights;
  }

  /** How many requests that nobody served each provider was tried for. */
  private failuresByProvider(): Map<string, number> {
    const failures = new Map<string, number>();
    for (const { group, id, requests } of this.rows) {
      if (group !== 'failed_by' || id === null) continue;
      for (const provider of new Set(JSON.parse(id) as string[])) {
        failures.set(provider, (failures.get(provider) ?? 0) + requests);
      }
    }
    return failures;
  }

  private describe(group: ReportGroup, id: string | null, names: ReadonlyMap<string, string> | null) {
    if (id === null) return { name: nobody[group] ?? 'Not served' };
    if (group === 'model') return { name: this.snapshot?.models.get(id)?.name ?? id };
    if (group === 'provider') return { name: this.snapshot?.providers.get(id)?.name ?? id };
    if (group === 'account' || group === 'project' || group === 'holder') return { name: names?.get(id) ?? id };
    if (group !== 'locode') return { name: id };
    const { city = null, country = null, lat = null, lon = null } = this.snapshot?.regions.get(id) ?? {};
    return { name: city ?? id, city, country, lat, lon };
  }

  private figures(row: Sums, weights: readonly Weight[]) {
    return { ...sumsOf(row), ...carbonOf(weights) };
  }

  private weightOf(row: ReportRow): Weight {
    return { row, carbon: row.id === null ? null : (this.snapshot?.routes.get(row.id)?.carbon ?? null) };
  }
}

function sumsOf(row: Sums) {
  return {
    requests: row.requests,
    errors: row.errors,
    spend_usd: usdText(row.costPico),
    tokens: row.promptTokens + row.completionTokens,
    prompt_tokens: row.promptTokens,
    completion_tokens: row.completionTokens,
    cached_tokens: row.cachedTokens,
    first_byte_p50_ms: row.firstByteP50Ms,
    first_byte_p95_ms: row.firstByteP95Ms,
  };
}

/** Requests that were served with a grid intensity, or with one that is not known. */
interface Weight {
  readonly row: Sums;
  readonly carbon: number | null;
}

function carbonOf(weights: readonly Weight[]): { carbon: number | null; carbon_requests: number } {
  let [tokens, sum, requests] = [0, 0, 0];
  for (const { row, carbon } of weights) {
    if (carbon === null) continue;
    const weight = row.promptTokens + row.completionTokens;
    tokens += weight;
    sum += carbon * weight;
    requests += row.requests;
  }
  return { carbon: tokens === 0 ? null : Math.round((sum / tokens) * 10) / 10, carbon_requests: requests };
}

/** The routes whose grid intensity the catalogue knows. */
export function intensitiesOf(snapshot: Snapshot | null): ReadonlyMap<string, number> {
  const known = new Map<string, number>();
  for (const [id, { carbon }] of snapshot?.routes ?? []) if (carbon !== null) known.set(id, carbon);
  return known;
}
