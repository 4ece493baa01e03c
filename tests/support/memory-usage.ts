/** The usage part of the memory store: the same groups, errors and percentiles as the query over PostgreSQL. */
import type { Generation } from '../../src/domain/generation.js';
import { defaultProjectId } from '../../src/domain/organisation.js';
import type {
  ActivityFigures,
  ActivityGroup,
  BilledLine,
  GenerationQuery,
  OwnSpent,
  ReportRow,
  UsageGroup,
  UsageRow,
  UsageStore,
} from '../../src/storage/store.js';

function isError({ status, streamEnd }: Generation): boolean {
  return (status >= 400 && status !== 499) || ['cut', 'stalled', 'pricing_fault'].includes(streamEnd ?? '');
}

/** Whether a generation is one that the query asks for. */
export function asked(row: Generation, query: GenerationQuery): boolean {
  const { accountId, after, key, model, provider, locode, served, requestId, status, fromMs, toMs, sort } = query;
  const { projects, holder, forModel } = query;
  const ids = [row.requestedModel, row.servedModel ?? ''];
  const models = [...ids, ...ids.map((id) => id.split('/').slice(1, 3).join('/'))];
  return (
    row.accountId === accountId &&
    (after === undefined || (sort === 'oldest' ? row.id > after : row.id < after)) &&
    (projects === undefined || projects.includes(projectOf(row))) &&
    (holder === undefined || (row.holderId ?? '').replace(/^acct-/, 'per-') === holder) &&
    (forModel === undefined || modelOf(row) === forModel) &&
    (requestId === undefined || row.requestId === requestId) &&
    (locode === undefined || row.locode === locode) &&
    (served === undefined || (row.provider !== null) === served) &&
    (key === undefined || row.keyName === key || row.keyId === key) &&
    (model === undefined || models.includes(model)) &&
    (provider === undefined || row.provider === provider) &&
    (status === undefined ||
      (typeof status === 'number' ? row.status === status : isError(row) === (status === 'error'))) &&
    (fromMs === undefined || row.createdAt >= fromMs) &&
    (toMs === undefined || row.createdAt < toMs)
  );
}

function modelOf({ servedModel, requestedModel }: Generation): string {
  const id = servedModel ?? requestedModel;
  return servedModel !== null || id.split('/').length > 2 ? id.split('/').slice(1, 3).join('/') : id;
}

const projectOf = ({ projectId, accountId }: Generation) => projectId ?? defaultProjectId(accountId);

/** Of routes. */
const noPercentiles = { firstByteP50Ms: null, firstByteP95Ms: null };
/** Of an intensity only requests and tokens are summed. */
const weightOnly = { ...noPercentiles, errors: 0, costPico: 0n };

export function memoryUsage(rows: () => Iterable<Generation>): UsageStore {
  return {
    async summary({ accountId, fromMs, toMs, stepMs, intensities, projects }) {
      const groups = new Map<
        string,
        { group: UsageGroup; step: number | null; id: string | null; rows: Generation[] }
      >();
      const put = (group: UsageGroup, step: number | null, id: string | null, row: Generation) => {
        const key = JSON.stringify([group, step, id]);
        const entry = groups.get(key) ?? { group, step, id, rows: [] };
        entry.rows.push(row);
        groups.set(key, entry);
      };
      groups.set('period', { group: 'period', step: null, id: null, rows: [] });
      for (const row of rows()) {
        if (row.accountId !== accountId || row.createdAt < fromMs || row.createdAt >= toMs) continue;
        if (projects && !projects.includes(projectOf(row))) continue;
        const step = Math.floor((row.createdAt - fromMs) / stepMs);
        groups.get('period')!.rows.push(row);
        put('step', step, null, row);
        put('route', null, row.servedModel, row);
        put('intensity', step, intensityOf(row, intensities), row);
        put('model', null, modelOf(row), row);
        put('provider', null, row.provider, row);
        put('region', null, row.locode, row);
      }
      return [...groups.values()].map(({ group, step, id, rows: of }) => ({
        ...{ group, step, id, ...figuresOf(of) },
        ...(group === 'route' && noPercentiles),
        ...(group === 'intensity' && weightOnly),
      }));
    },
    async activity({ accountId, fromMs, toMs, interval, groupBy, projects, holder, endUser }) {
      const stepMs = interval === 'day' ? 86_400_000 : 3_600_000;
      const groups = new Map<string, { startMs: number; group: string | null; rows: Generation[] }>();
      const all: Generation[] = [];
      for (const row of rows()) {
        if ((accountId !== null && row.accountId !== accountId) || row.createdAt < fromMs || row.createdAt >= toMs)
          continue;
        if (projects && !projects.includes(projectOf(row))) continue;
        if (holder !== undefined && groupOf.holder(row) !== holder) continue;
        if (endUser !== undefined && row.endUser !== endUser) continue;
        const startMs = Math.floor(row.createdAt / stepMs) * stepMs;
        const group = groupBy === null ? null : groupOf[groupBy](row);
        const key = JSON.stringify([startMs, group]);
        const entry = groups.get(key) ?? { startMs, group, rows: [] };
        entry.rows.push(row);
        groups.set(key, entry);
        all.push(row);
      }
      const found = [...groups.values()].map(({ startMs, group, rows: of }) => ({ startMs, group, ...activityOf(of) }));
      return { rows: found.sort((a, b) => a.startMs - b.startMs), total: activityOf(all) };
    },
    async report({ accountId, fromMs, toMs, stepMs, groups, filter, routes, intensities }) {
      const sums = new Map<
        string,
        { group: ReportRow['group']; step: number | null; id: string | null; rows: Generation[] }
      >();
      const put = (group: ReportRow['group'], step: number | null, id: string | null, row: Generation) => {
        const key = JSON.stringify([group, step, id]);
        const entry = sums.get(key) ?? { group, step, id, rows: [] };
        entry.rows.push(row);
        sums.set(key, entry);
      };
      for (const row of rows()) {
        const query = { ...filter, accountId: accountId ?? row.accountId, fromMs, toMs, limit: 1 };
        if (!asked(row, query)) continue;
        const step = Math.floor((row.createdAt - fromMs) / stepMs);
        put('period', null, null, row);
        put('step', step, null, row);
        if (routes || groups.some((group) => group !== 'key' && group !== 'account')) {
          put('route', null, row.servedModel, row);
          put('failed_by', null, row.servedModel === null ? JSON.stringify(row.providersAttempted) : null, row);
        }
        if (intensities) put('step_intensity', step, intensityOf(row, intensities), row);
        for (const group of groups) put(group, null, group === 'model' ? modelOf(row) : groupOf[group](row), row);
      }
      return [...sums.values()].map(({ group, step, id, rows: of }) => ({
        ...{ group, step, id, ...activityOf(of) },
        ...(group === 'route' && noPercentiles),
        ...(group === 'step_intensity' && { ...weightOnly, cachedTokens: 0 }),
      }));
    },
    async facets(accountId, fromMs, toMs, projects) {
      const mine = [...rows()].filter((row) =>
        asked(row, { accountId, fromMs, toMs, limit: 1, ...(projects && { projects }) }),
      );
      const distinct = (read: (row: Generation) => string | null) =>
        [...new Set(mine.map(read))].filter((value) => value !== null).sort();
      return {
        keys: distinct((row) => row.keyName),
        models: distinct((row) => row.requestedModel),
        providers: distinct((row) => row.provider),
      };
    },
    async billedLines({ provider, fromMs, toMs }) {
      const sums = new Map<string, BilledLine>();
      const add = (routeId: string, name: string, count: number, costPico: bigint) => {
        const before = sums.get(`${routeId} ${name}`) ?? { count: 0, costPico: 0n };
        const sum = { count: before.count + count, costPico: before.costPico + costPico };
        sums.set(`${routeId} ${name}`, { routeId, name, ...sum });
      };
      for (const row of rows()) {
        const { servedModel: id, createdAt } = row;
        if (!row.billed || id === null || row.provider !== provider || createdAt < fromMs || createdAt >= toMs)
          continue;
        add(id, 'requests', 1, 0n);
        if (!row.bill) add(id, 'unrecorded', 1, row.costPico);
        for (const { name, count, rate } of row.bill?.lines ?? []) add(id, name, count, BigInt(count) * rate);
      }
      return [...sums.values()];
    },
    async ownSince(accountId, fromMs) {
      const sums = new Map<string, OwnSpent>();
      for (const { keyId, costPico, notionalPico, countedPico, ...row } of rows()) {
        if (row.accountId !== accountId || row.createdAt < fromMs || !row.billed || notionalPico == null) continue;
        const { listPico, extraPico } = sums.get(keyId) ?? { listPico: 0n, extraPico: 0n };
        const extra = countedPico == null ? 0n : countedPico - costPico;
        sums.set(keyId, { listPico: listPico + notionalPico, extraPico: extraPico + extra });
      }
      return sums;
    },
    async spentSince(accountId, fromMs) {
      const sums = new Map<string, bigint>();
      for (const row of rows()) {
        if (row.accountId !== accountId || row.createdAt < fromMs || !row.billed) continue;
        sums.set(row.keyId, (sums.get(row.keyId) ?? 0n) + row.costPico);
      }
      return sums;
    },
  };
}

const groupOf: Record<ActivityGroup, (row: Generation) => string | null> = {
  key: (row) => row.keyName,
  project: projectOf,
  model: (row) => row.servedModel?.split('/').slice(1, 3).join('/') ?? null,
  provider: (row) => row.provider,
  locode: (row) => row.locode,
  status: (row) => String(row.status),
  account: (row) => row.accountId,
  holder: (row) => (row.holderId ?? null)?.replace(/^acct-/, 'per-') ?? null,
  end_user: (row) => row.endUser ?? null,
};

function activityOf(rows: readonly Generation[]): ActivityFigures {
  const cachedTokens = rows.reduce((total, row) => total + row.cachedTokens, 0);
  return { ...figuresOf(rows), cachedTokens, tokensPerSecondP50: null };
}

function figuresOf(rows: readonly Generation[]): Omit<UsageRow, 'group' | 'step' | 'id'> {
  const times = rows.flatMap(({ firstByteMs }) => (firstByteMs === null ? [] : [firstByteMs])).sort((a, b) => a - b);
  const percentile = (share: number) => times[Math.max(Math.ceil(times.length * share) - 1, 0)] ?? null;
  const sum = (read: (row: Generation) => number) => rows.reduce((total, row) => total + read(row), 0);
  return {
    requests: rows.length,
    errors: rows.filter(isError).length,
    costPico: rows.reduce((total, row) => total + row.costPico, 0n),
    promptTokens: sum((row) => row.promptTokens),
    completionTokens: sum((row) => row.completionTokens),
    firstByteP50Ms: percentile(0.5),
    firstByteP95Ms: percentile(0.95),
  };
}

function intensityOf({ servedModel }: Generation, intensities: ReadonlyMap<string, number>): string | null {
  const intensity = servedModel === null ? undefined : intensities.get(servedModel);
  return intensity === undefined ? null : String(intensity);
}
