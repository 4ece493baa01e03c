/** `GET /v1/budget`: what the key in use, its project and its account may spend in their periods, and have spent. */
import type { FastifyInstance } from 'fastify';
import { periodEnd, periodStart } from '../../accounts/keys/limit-period.js';
import { type BoundKind, boundsOf, openingPico } from '../../accounts/spending/spend-bounds.js';
import { type PicoUsd, usdText } from '../../base/money.js';
import type { Identity } from '../../domain/account.js';
import type { Budget, BudgetPeriod } from '../../domain/organisation.js';
import { callerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { record } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { period } from '../openapi/shared.js';
import { recordsOf } from './generations.js';

interface Allowance {
  readonly period: BudgetPeriod;
  readonly limitPico: PicoUsd | null;
  readonly opening?: Budget['opening'];
}

const unlimited: Allowance = { period: 'never', limitPico: null };

/** `prefix` is `/v1`, or nothing in the dashboard, where the project is the one of the playground. */
export function registerBudget(app: FastifyInstance, deps: HttpDeps, prefix: string): void {
  app.get(`${prefix}/budget`, async (request) => {
    const identity = callerOf(request);
    const { key, account, project } = identity;
    const held = await heldOf(deps, identity);
    const nowMs = deps.clock.now();
    const shown = async (kind: BoundKind, allowance: Allowance, spentSince: (fromMs: number) => Promise<PicoUsd>) => {
      const fromMs = periodStart(allowance.period, nowMs) ?? 0;
      const spentPico = (await spentSince(fromMs)) + openingPico(allowance.opening, fromMs);
      return allowanceJson(allowance, spentPico, held[kind], nowMs);
    };
    const { limitPico, limitReset: period } = key.terms;
    return recordsOf(deps, async () => ({
      object: 'budget',
      key: await shown('key', { period, limitPico }, (fromMs) => spentByKey(deps, identity, fromMs)),
      project: await shown('project', project.budget ?? unlimited, (fromMs) =>
        deps.store.budgets.spentSince({ accountId: account.id, projectId: project.id }, fromMs),
      ),
      account: await shown('account', account.budget ?? unlimited, (fromMs) =>
        deps.store.budgets.spentSince({ accountId: account.id, projectId: null }, fromMs),
      ),
    }));
  });
}

async function spentByKey({ store }: HttpDeps, { key, account }: Identity, fromMs: number): Promise<PicoUsd> {
  const opening = await store.brought.openingSince(key.id, fromMs);
  if (fromMs === 0) return opening + (await store.keys.usage(key.id));
  return opening + ((await store.usage.spentSince(account.id, fromMs)).get(key.id) ?? 0n);
}

/** What requests in flight hold of each limit. Without limits, what is held is known of the account alone. */
async function heldOf({ spend }: HttpDeps, identity: Identity): Promise<Record<BoundKind, PicoUsd>> {
  const held: Record<BoundKind, PicoUsd> = { key: 0n, project: 0n, account: 0n };
  if (!spend) return held;
  const bounds = boundsOf(identity);
  const ofBounds = await spend.heldOf(bounds);
  if (identity.account.budget === null) held.account = (await spend.inFlight(identity.account)).heldPico;
  for (const [i, { kind }] of bounds.entries()) held[kind] = ofBounds[i]!;
  return held;
}

function allowanceJson({ limitPico, period }: Allowance, spentPico: PicoUsd, heldPico: PicoUsd, nowMs: number) {
  const endMs = periodEnd(period, nowMs);
  const leftPico = limitPico === null ? null : limitPico > spentPico ? limitPico - spentPico : 0n;
  return {
    limit_usd: limitPico === null ? null : usdText(limitPico),
    period,
    spent_usd: usdText(spentPico),
    held_usd: usdText(heldPico),
    remaining_usd: leftPico === null ? null : usdText(leftPico),
    ends_at: endMs === null ? null : new Date(endMs).toISOString(),
  };
}

const allowanceOf = (what: string) =>
  s.object({
    limit_usd: s.textOrNull(`How much ${what} may spend in a period; null is no limit.`),
    period,
    spent_usd: s.usd('What was spent in the current period; with `never`, in all.'),
    held_usd: s.usd('What requests in flight hold of the limit.'),
    remaining_usd: s.textOrNull('What is left of the limit, without what is held; null without a limit.'),
    ends_at: s.timeOrNull('When the next period begins; null for `never`.'),
  });

export const budgetReport = record('BudgetReport', {
  object: { const: 'budget' },
  key: allowanceOf('the key'),
  project: allowanceOf('the project'),
  account: allowanceOf('the account'),
});
