/** The keys of an account as `/v1/keys`, the admin API and the dashboard show and change them. */
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Actor } from '../../accounts/audit.js';
import { parseExpiry } from '../../accounts/keys/expiry.js';
import { periodStart } from '../../accounts/keys/limit-period.js';
import type { NewKey } from '../../accounts/keys/new-key.js';
import { keyExpired, tokenPrefix } from '../../accounts/keys/token.js';
import { usdText } from '../../base/money.js';
import type { Bucket } from '../../cluster/ports.js';
import { type Account, type ApiKey, keyProjectId, openTerms } from '../../domain/account.js';
import { type Project, shownPersonId } from '../../domain/organisation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { KeyFigures } from '../../storage/store.js';
import { actorOf } from '../admin/audit.js';
import { settledWaitMs } from '../api/generations.js';
import type { HttpDeps } from '../deps.js';
import { limitRule } from '../query.js';
import {
  type Bounds,
  broughtOf,
  importedKeys,
  keyChange,
  keyFields,
  newKey,
  newOrBroughtKey,
  termsOf,
  withKeyFaults,
} from './key-fields.js';
import { type KeyPages, keyPage } from './key-pages.js';

export const keysLimit = limitRule(100, 1000);

const unused: KeyFigures = { usagePico: 0n, lastUsedAt: null };

/**
 * New keys of an account: twice the maximum at once, then 10 a minute. Each key has its own rate limits, which an account that keeps
 * replacing its keys would never reach.
 */
function newKeyBuckets(accountId: string): Bucket[] {
  return [{ name: `new key ${accountId}`, capacity: 400, refillMs: 6000 }];
}

/** Who makes a key, where that bounds what it may be. */
interface KeyMaker {
  /** The project to which the caller is bound; null for the whole account. */
  readonly reach?: Project | null;
  /** The person who holds every key that they make. */
  readonly holderId?: string | null;
}

type SentKey = z.infer<typeof newKey> & { brought?: NewKey['brought']; maker?: KeyMaker };

export class KeyRecords {
  private readonly bounds: Bounds;

  constructor(private readonly deps: HttpDeps) {
    const { keyRequestsPerMinute, keyTokensPerMinute } = deps.limits;
    const { names } = deps;
    this.bounds = { requestsPerMinute: keyRequestsPerMinute, tokensPerMinute: keyTokensPerMinute, names };
  }

  /** All of them, oldest first. */
  async list(accountId: string) {
    const keys = await this.deps.directory.keys(accountId);
    const figures = await this.figures(accountId, keys);
    return keys.map((key) => this.json(key, figures.get(key.id) ?? unused));
  }

  async page(request: FastifyRequest, accountId: string, pages: KeyPages) {
    const keys = await keyPage(this.deps, request, accountId, pages);
    const ids = keys.length > keysLimit.max ? undefined : keys.map(({ id }) => id);
    const figures = await this.figures(accountId, keys, ids);
    return { object: 'list', data: keys.map((key) => this.json(key, figures.get(key.id) ?? unused)) };
  }

  async one(accountId: string, keyId: string, reach: Project | null = null) {
    return this.shown(accountId, keyId, await this.found(accountId, keyId, reach));
  }

  /** The same for an operator, who may also bring a key of another system with its token. */
  async createOrBring(request: FastifyRequest, actor: Actor, accountOf: () => Promise<Account>) {
    const fields = keyFields(request, newOrBroughtKey);
    const brought = broughtOf(fields);
    const { token, ...key } = await this.make(request, actor, accountOf, { ...fields, brought });
    if (!brought) return { ...key, token };
    await this.deps.brought.noteFirst();
    return key;
  }

  /** The key with its token. The body is checked before the account is looked up. */
  async create(request: FastifyRequest, actor: Actor, accountOf: () => Promise<Account>, maker: KeyMaker = {}) {
    return this.make(request, actor, accountOf, { ...keyFields(request, newKey), maker });
  }

  private async make(request: FastifyRequest, actor: Actor, accountOf: () => Promise<Account>, sent: SentKey) {
    const { directory, clock, expiry } = this.deps;
    const now = clock.now();
    const expiresAt = withKeyFaults(request, () => parseExpiry(sent.expires, now, sent.brought === undefined));
    const account = await accountOf();
    const holderId = sent.maker?.holderId ?? (await this.holder(account, sent.holder));
    const asked = this.newKey(account, sent, { expiresAt, createdAt: now, holderId });
    const { key, token } = await directory.createKey(actor, asked);
    expiry.noteNewKey(expiresAt);
    return { ...this.json(key, { ...unused, usagePico: key.openingPico ?? 0n }), token };
  }

  private newKey(account: Account, sent: SentKey, rest: Pick<NewKey, 'expiresAt' | 'createdAt' | 'holderId'>): NewKey {
    const { name, expires: _expires, project, holder: _holder, brought, maker = {}, ...fields } = sent;
    const terms = termsOf(fields, account, this.bounds);
    return {
      ...{ accountId: account.id, name, ...(brought && { brought }), ...rest },
      projectId: storedProject(account, fields.kind, project, maker.reach ?? null),
      ...(Object.keys(terms).length > 0 && { terms: { ...openTerms, ...terms } }),
    };
  }

  /** Several keys of another system, all of them or, where one has a fault, none. Keys whose tokens are known stay as they are. */
  async bringAll(request: FastifyRequest, actor: Actor, account: Account) {
    const { directory, clock, expiry, brought: tokens } = this.deps;
    const now = clock.now();
    const { keys } = keyFields(request, importedKeys);
    const holders = new Map<string, string | null>();
    for (const { holder } of keys)
      if (holder != null && !holders.has(holder)) holders.set(holder, await this.holder(account, holder));
    const asked = keys.map((fields) => {
      const expiresAt = withKeyFaults(request, () => parseExpiry(fields.expires, now, false));
      const holderId = holders.get(fields.holder ?? '') ?? null;
      return this.newKey(account, { ...fields, brought: broughtOf(fields) }, { expiresAt, createdAt: now, holderId });
    });
    const made = await directory.bringKeys(actor, account.id, asked);
    for (const key of made) if (key) expiry.noteNewKey(key.expiresAt);
    await tokens.noteFirst();
    return {
      object: 'list',
      data: made.map((key, index) => ({
        id: key?.id ?? null,
        imported_from: keys[index]!.imported_from ?? null,
        status: key ? 'created' : 'exists',
      })),
    };
  }

  /** The same for a caller who is not an operator: how many keys it creates in a minute is limited. */
  async createLimited(request: FastifyRequest, account: Account, maker: KeyMaker) {
    const limiter = this.deps.dashboard?.limiter;
    const buckets = newKeyBuckets(account.id);
    await limiter?.take(buckets);
    try {
      return await this.create(request, actorOf(request), async () => account, maker);
    } catch (error) {
      await limiter?.giveBack(buckets);
      throw error;
    }
  }

  async update(
    request: FastifyRequest,
    actor: Actor,
    accountOf: () => Promise<Account>,
    keyId: string,
    reach: Project | null = null,
  ) {
    const { name, holder, ...fields } = keyFields(request, keyChange);
    const account = await accountOf();
    if (reach) await this.found(account.id, keyId, reach);
    const terms = termsOf(fields, account, this.bounds);
    const holderId = holder === undefined ? undefined : await this.holder(account, holder);
    const change = { ...(name !== undefined && { name }), terms, ...(holderId !== undefined && { holderId }) };
    return this.shown(account.id, keyId, await this.deps.directory.updateKey(actor, account.id, keyId, change));
  }

  async delete(actor: Actor, accountId: string, keyId: string, reach: Project | null = null): Promise<void> {
    if (reach) await this.found(accountId, keyId, reach);
    if (!(await this.deps.directory.deleteKey(actor, accountId, keyId))) throw noSuchKey(keyId);
  }

  /** Throws resource_not_found, also for a key that the caller does not reach. */
  private async found(accountId: string, keyId: string, reach: Project | null): Promise<ApiKey> {
    const key = (await this.deps.directory.keys(accountId)).find(({ id }) => id === keyId);
    if (!key || !isWithin(reach, key)) throw noSuchKey(keyId);
    return key;
  }

  /** The stored id of the person. Throws key_field_invalid for one who is no member of the account. */
  private async holder({ id }: Account, sent: string | null | undefined): Promise<string | null> {
    if (sent === undefined || sent === null) return null;
    const stored = sent.includes('\0') ? null : await this.deps.store.keys.holderNamed(id, sent);
    if (stored !== null) return stored;
    const reason = `is "${sent.slice(0, 100)}", but the account has no member with this id`;
    throw gatewayError('key_field_invalid', { param: 'holder', reason });
  }

  private async shown(accountId: string, keyId: string, key: ApiKey | null | undefined) {
    if (!key) throw noSuchKey(keyId);
    return this.json(key, (await this.figures(accountId, [key], [keyId])).get(keyId) ?? unused);
  }

  /** What was spent through each key in its current period, with requests that have just ended, and its last use. */
  private async figures(accountId: string, keys: readonly ApiKey[], keyIds?: readonly string[]) {
    const { directory, journal, store, clock } = this.deps;
    await journal.settled(settledWaitMs);
    const figures = await directory.keyFigures(accountId, keyIds);
    const now = clock.now();
    const starts = new Set(keys.map(({ terms }) => periodStart(terms.limitReset, now)));
    for (const start of starts) {
      if (start === null) continue;
      const spent = await store.usage.spentSince(accountId, start);
      for (const { id, terms } of keys) {
        if (periodStart(terms.limitReset, now) !== start) continue;
        figures.set(id, { ...(figures.get(id) ?? unused), usagePico: spent.get(id) ?? 0n });
      }
    }
    for (const { id, terms, openingPico = 0n, createdAt } of keys) {
      if (openingPico === 0n || createdAt < (periodStart(terms.limitReset, now) ?? 0)) continue;
      const known = figures.get(id) ?? unused;
      figures.set(id, { ...known, usagePico: known.usagePico + openingPico });
    }
    return figures;
  }

  private json(key: ApiKey, { usagePico, lastUsedAt }: KeyFigures) {
    const { terms, workload } = key;
    return {
      id: key.id,
      name: key.name,
      prefix: key.brought ? '' : tokenPrefix,
      last_four: key.lastFour,
      imported_from: key.importedFrom ?? null,
      expires_at: timeText(key.expiresAt),
      state: keyExpired(key, this.deps.clock.now()) ? 'expired' : terms.disabled ? 'disabled' : 'active',
      created_at: new Date(key.createdAt).toISOString(),
      project: keyProjectId(key),
      holder: key.holderId === null ? null : shownPersonId(key.holderId),
      kind: terms.kind,
      disabled: terms.disabled,
      limit_usd: terms.limitPico === null ? null : usdText(terms.limitPico),
      limit_reset: terms.limitReset,
      allowed_models: terms.allowedModels,
      allowed_providers: terms.allowedProviders,
      allowed_ips: terms.allowedIps,
      requests_per_minute: terms.requestsPerMinute,
      tokens_per_minute: terms.tokensPerMinute,
      usage_usd: usdText(usagePico),
      limit_remaining_usd: terms.limitPico === null ? null : usdText(remaining(terms.limitPico, usagePico)),
      last_used_at: timeText(lastUsedAt),
      ...(workload && { workload: { issuer: workload.issuer, subject: workload.subject } }),
    };
  }
}

/** Whether the key is in the project to which a caller is bound; null is the whole account. */
export function isWithin(reach: Project | null, key: ApiKey): boolean {
  return reach === null || keyProjectId(key) === reach.id;
}

/**
 * The project as the key keeps it: null for the default one, and for a management key of the whole account. Who is bound to a project
 * creates keys of that project only. Throws key_field_invalid.
 */
function storedProject(
  account: Account,
  kind: ApiKey['terms']['kind'] | undefined,
  sent: string | null | undefined,
  reach: Project | null,
): string | null {
  const id = sent === undefined ? reach?.id : sent;
  if (!reach && (id === undefined || id === null)) return null;
  const project = id === undefined || id === null ? undefined : account.projects.get(id);
  if (!project || (reach && project !== reach)) {
    const reason =
      id === null ? `is null, but must be "${reach?.id}"` : `is "${id?.slice(0, 100)}", but there is no such project`;
    throw gatewayError('key_field_invalid', { param: 'project', reason });
  }
  return project.isDefault && kind !== 'management' ? null : project.id;
}

function remaining(limitPico: bigint, usagePico: bigint): bigint {
  return usagePico < limitPico ? limitPico - usagePico : 0n;
}

function timeText(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function noSuchKey(keyId: string) {
  return gatewayError('resource_not_found', { what: 'key', id: keyId.slice(0, 100) });
}
