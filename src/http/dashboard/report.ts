/** `GET usage/report` and `GET operator/report`: the sums behind the Overview, Usage and Service pages, filtered and in groups. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { shownPersonId } from '../../domain/organisation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { ReportFilter, ReportGroup, ReportQuery, ReportRow } from '../../storage/store.js';
import { generationFilters, settledWaitMs } from '../api/generations.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { queryInstant, queryText } from '../query.js';
import { intensitiesOf, ReportFigures } from './report-figures.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const defaultDays = 7;
const daysMax = 1100;

const sharedGroups = ['key', 'model', 'provider', 'locode', 'status'] as const;
const ownGroups = [...sharedGroups, 'project', 'holder', 'end_user'] as const;
const operatorGroups = [...sharedGroups, 'account'] as const;

/** The longest period of each step, so that a chart has at most some hundred points. */
const steps: readonly { upToMs: number; stepMs: number }[] = [
  { upToMs: 2 * dayMs, stepMs: hourMs },
  { upToMs: 14 * dayMs, stepMs: 6 * hourMs },
  { upToMs: 120 * dayMs, stepMs: dayMs },
  { upToMs: daysMax * dayMs, stepMs: 7 * dayMs },
];

export function registerReport(app: FastifyInstance, deps: HttpDeps): void {
  app.get('/usage/report', (request) => report(deps, request, accountOf(request).id, ownGroups));
}

/** All accounts, or the one that `account` names. */
export function registerOperatorReport(app: FastifyInstance, deps: HttpDeps): void {
  app.get('/report', (request) => report(deps, request, queryText(request, 'account') ?? null, operatorGroups));
}

async function report(
  deps: HttpDeps,
  request: FastifyRequest,
  accountId: string | null,
  allowed: readonly ReportGroup[],
) {
  const { fromMs, toMs, stepMs } = periodOf(deps, request);
  const groups = groupsOf(request, allowed);
  const { current: snapshot } = deps.catalogue;
  const query: ReportQuery = {
    ...{ accountId, fromMs, toMs, stepMs, groups, filter: filterOf(request), routes: true },
    ...(carbonOf(request) === 'steps' && { intensities: intensitiesOf(snapshot) }),
  };
  await deps.journal.settled(settledWaitMs);
  const [rows, before] = await Promise.all([
    deps.store.usage.report(query),
    queryText(request, 'compare') === 'previous' ? deps.store.usage.report(previousOf(deps, query)) : null,
  ]);
  const names = groups.includes('account') ? await accountNames(deps) : await ownNames(deps, request, rows);
  const figures = new ReportFigures(rows, snapshot);
  return {
    object: 'usage_report',
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    step_seconds: stepMs / 1000,
    totals: figures.period(),
    previous: before && new ReportFigures(before, snapshot).comparison(),
    series: Array.from({ length: Math.ceil((toMs - fromMs) / stepMs) }, (_, step) => ({
      at: new Date(fromMs + step * stepMs).toISOString(),
      ...(query.intensities ? figures.step(step) : figures.stepSums(step)),
    })),
    groups: Object.fromEntries(groups.map((group) => [group, figures.members(group, names)])),
  };
}

/** Whole hours, because the sums are kept by the hour. */
function periodOf({ clock }: HttpDeps, request: FastifyRequest) {
  const toMs = Math.ceil((queryInstant(request, 'to') ?? clock.now()) / hourMs) * hourMs;
  const fromMs = Math.floor((queryInstant(request, 'from') ?? toMs - defaultDays * dayMs) / hourMs) * hourMs;
  if (fromMs >= toMs) throw gatewayError('field_invalid', { param: 'from', reason: 'must be earlier than `to`' });
  const stepMs = steps.find(({ upToMs }) => toMs - fromMs <= upToMs)?.stepMs;
  if (stepMs === undefined) {
    throw gatewayError('field_invalid', { param: 'from', reason: `must be at most ${daysMax} days before \`to\`` });
  }
  return { fromMs, toMs, stepMs };
}

/** As long as the period is over so far, so that the two can be compared. */
function previousOf({ clock }: HttpDeps, query: ReportQuery): ReportQuery {
  const lengthMs = query.toMs - query.fromMs;
  const toMs = Math.max(Math.min(query.toMs, clock.now()), query.fromMs) - lengthMs;
  const { intensities: _, ...rest } = query;
  return { ...rest, fromMs: query.fromMs - lengthMs, toMs, stepMs: lengthMs, groups: [], routes: false };
}

/** Sums by grid intensity and step read far more than the others, so a page that draws none does without. */
function carbonOf(request: FastifyRequest): 'period' | 'steps' {
  const carbon = queryText(request, 'carbon') ?? 'period';
  if (carbon === 'period' || carbon === 'steps') return carbon;
  throw gatewayError('field_invalid', { param: 'carbon', reason: 'must be `period` or `steps`' });
}

function groupsOf(request: FastifyRequest, allowed: readonly ReportGroup[]): ReportGroup[] {
  const names = queryText(request, 'by')?.split(',') ?? [];
  return names.map((name) => {
    const group = allowed.find((candidate) => candidate === name);
    if (!group) throw gatewayError('field_invalid', { param: 'by', reason: `must be from ${allowed.join(', ')}` });
    return group;
  });
}

function filterOf(request: FastifyRequest): ReportFilter {
  const { key, projects, model, forModel, provider, locode, served, status, ...of } = generationFilters(request);
  const { holder, endUser } = of;
  const fields = { key, projects, holder, endUser, model, forModel, provider, locode, served, status };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Of the projects, and of the people who held keys. */
async function ownNames({ store }: HttpDeps, request: FastifyRequest, rows: readonly ReportRow[]) {
  const projects = request.identity?.account.projects.values() ?? [];
  const names = new Map([...projects].map(({ id, name }) => [id, name]));
  const holders = rows.flatMap(({ group, id }) => (group === 'holder' && id !== null ? [id] : []));
  if (holders.length === 0) return names;
  // Who came with an account has the account's id in the store.
  const emails = await store.people.emails(holders.flatMap((id) => [id, id.replace(/^per-/, 'acct-')]));
  for (const [id, email] of emails) names.set(shownPersonId(id), email);
  return names;
}

async function accountNames({ directory }: HttpDeps): Promise<Map<string, string>> {
  return new Map((await directory.accounts()).map(({ id, email }) => [id, email]));
}
