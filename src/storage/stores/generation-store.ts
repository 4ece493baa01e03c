/** Reads the usage history of an account, newest first. */
import { and, asc, desc, eq, gt, gte, inArray, isNotNull, isNull, lt, or, type SQL, sql } from 'drizzle-orm';
import { generationIdsFrom, idTimeMs } from '../../base/ids.js';
import type { Generation } from '../../domain/generation.js';
import { defaultProjectId } from '../../domain/organisation.js';
import type { Database } from '../database.js';
import { modelSql } from '../records/usage-columns.js';
import type { GenerationQuery, GenerationSort, GenerationStore } from '../store.js';
import { generations } from './tables.js';
import { isErrorSql } from './usage-store.js';

export function generationStore(history: Database): GenerationStore {
  return {
    async find(accountId, id) {
      if (accountId === null) return findAny(history, id);
      const rows = await history.query((db) =>
        db
          .select()
          .from(generations)
          .where(and(eq(generations.accountId, accountId), ofId(id))),
      );
      return rows[0] ?? null;
    },

    async list(query) {
      const rows = await history.look((db) =>
        db
          .select()
          .from(generations)
          .where(and(...conditionsOf(query)))
          .orderBy(...orderOf(query.sort))
          .limit(query.limit + 1),
      );
      return { data: rows.slice(0, query.limit), hasMore: rows.length > query.limit };
    },
  };
}

/** Ids are indexed by account, so here the time that they begin with bounds the rows to look at. */
async function findAny(history: Database, id: string): Promise<Generation | null> {
  const ms = idTimeMs(id);
  const near =
    ms === null ? [] : [gte(generations.createdAt, ms - clockStepMs), lt(generations.createdAt, ms + requestMaxMs)];
  const rows = await history.look((db) =>
    db
      .select()
      .from(generations)
      .where(and(ofId(id), ...near))
      .limit(1),
  );
  return rows[0] ?? null;
}

function conditionsOf(query: GenerationQuery): (SQL | undefined)[] {
  const { accountId, after, key, model, provider, locode, served, requestId, status, fromMs, toMs, sort } = query;
  const { projects, holder, forModel } = query;
  const when = <T>(value: T | undefined, condition: (value: T) => SQL | undefined) =>
    value === undefined ? undefined : condition(value);
  return [
    eq(generations.accountId, accountId),
    when(after, (id) => (sort === 'oldest' ? gt(generations.id, id) : lt(generations.id, id))),
    when(requestId, ofId),
    when(locode, (id) => eq(generations.locode, id)),
    when(served, (yes) => (yes ? isNotNull(generations.provider) : isNull(generations.provider))),
    when(fromMs, (ms) => gte(generations.id, generationIdsFrom(ms))),
    when(toMs, (ms) => lt(generations.id, generationIdsFrom(ms))),
    when(key, (name) => or(eq(generations.keyName, name), eq(generations.keyId, name))),
    when(projects, (ids) => ofProjects(accountId, ids)),
    when(holder, (id) => inArray(generations.holderId, [id, id.replace(/^per-/, 'acct-')])),
    when(model, ofModel),
    when(forModel, (id) => sql`${sql.raw(modelSql)} = ${id}`),
    when(provider, (id) => eq(generations.provider, id)),
    when(status, ofStatus),
  ];
}

/** Records of versions without projects are those of the default one. */
function ofProjects(accountId: string, ids: readonly string[]): SQL | undefined {
  const named = inArray(generations.projectId, [...ids]);
  return ids.includes(defaultProjectId(accountId)) ? or(named, isNull(generations.projectId)) : named;
}

const requestMaxMs = 60 * 60 * 1000;
const clockStepMs = 60 * 1000;

/** There is no index on request ids. Both ids begin with the time, so a request id bounds the generations to look at. */
function ofId(id: string): SQL | undefined {
  const ms = id.startsWith('req-') ? idTimeMs(id) : null;
  if (ms === null) return eq(generations.id, id);
  return and(
    eq(generations.requestId, id),
    gte(generations.id, generationIdsFrom(Math.max(0, ms - clockStepMs))),
    lt(generations.id, generationIdsFrom(ms + requestMaxMs)),
  );
}

function orderOf(sort: GenerationSort = 'newest'): SQL[] {
  if (sort === 'oldest') return [asc(generations.id)];
  const figures = {
    cost: generations.costPico,
    latency: generations.latencyMs,
    tokens: sql`${generations.promptTokens} + ${generations.completionTokens}`,
  };
  return sort === 'newest' ? [desc(generations.id)] : [desc(figures[sort]), desc(generations.id)];
}

/** `{creator}/{model}` stands for every id of that model, requested or served. */
function ofModel(model: string): SQL | undefined {
  const exact = [eq(generations.requestedModel, model), eq(generations.servedModel, model)];
  if (model.split('/').length !== 2 || model.startsWith('alias/')) return or(...exact);
  const canonical = (id: SQL) => sql`split_part(${id}, '/', 2) || '/' || split_part(${id}, '/', 3) = ${model}`;
  return or(...exact, canonical(sql`${generations.requestedModel}`), canonical(sql`${generations.servedModel}`));
}

function ofStatus(status: 'ok' | 'error' | number): SQL {
  if (status === 'error') return isErrorSql;
  return status === 'ok' ? sql`not ${isErrorSql}` : eq(generations.status, status);
}
