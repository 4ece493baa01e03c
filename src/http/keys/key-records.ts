/** The keys of an account as `/v1/keys`, the admin API and the dashboard show and change them. */
import type { FastifyRequest } from 'fastify';
import type { Actor } from '../../accounts/audit.js';
import { parseExpiry } from '../../accounts/keys/expiry.js';
import { periodStart } from '../../accounts/keys/limit-period.js';
import { keyExpired, tokenPrefix } from '../../accounts/keys/token.js';
import { usdText } from '../../base/money.js';
import type { Bucket } from '../../cluster/ports.js';
import { type Account, type ApiKey, openTerms } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { KeyFigures } from '../../storage/store.js';
import { actorOf } from '../admin/audit.js';
import { settledWaitMs } from '../api/generations.js';
import type { HttpDeps } from '../deps.js';
import { keyChange, keyFields, newKey, termsOf, withKeyFaults } from './key-fields.js';

const unused: KeyFigures = { usagePico: 0n, lastUsedAt: null };

/**
 * New keys of an account: twice the maximum at once, then 10 a minute. Each key has its own rate limits, which an account that keeps
 * replacing its keys would never reach.
 */
function newKeyBuckets(accountId: string): Bucket[] {
  return [{ name: `new key ${accountId}`, capacity: 400, refillMs: 6000 }];
}

export class KeyRecords {
  private readonly bounds: { requestsPerMinute: number; tokensPerMinute: number };

  constructor(private readonly deps: HttpDeps) {
    const { keyRequestsPerMinute, keyTokensPerMinute } = deps.limits;
    this.bounds = { requestsPerMinute: keyRequestsPerMinute, tokensPerMinute: keyTokensPerMinute };
  }

  /** Oldest first. */
  async list(accountId: string) {
    const keys = await this.deps.directory.keys(accountId);
    const figures = await this.figures(accountId, keys);
    return keys.map((key) => this.json(key, figures.get(key.id) ?? unused));
  }

  async one(accountId: string, keyId: string) {
    const key = (await this.deps.directory.keys(accountId)).find(({ id }) => id === keyId);
    return this.shown(accountId, keyId, key);
  }

  /** The key with its token. The body is checked before the account is looked up. */
  async create(request: FastifyRequest, actor: Actor, accountOf: () => Promise<Account>) {
    const { directory, clock, expiry } = this.deps;
    const { name, expires, ...fields } = keyFields(request, newKey);
    const now = clock.now();
    const expiresAt = withKeyFaults(request, () => parseExpiry(expires, now));
    const account = await accountOf();
    const terms = termsOf(fields, account, this.bounds);
    const { key, token } = await directory.createKey(actor, {
      ...{ accountId: account.id, name, expiresAt, createdAt: now },
      ...(Object.keys(terms).length > 0 && { terms: { ...openTerms, ...terms } }),
    });
    expiry.noteNewKey(expiresAt);
    return { ...this.json(key, unused), token };
  }

  /** The same for a caller who is not an operator: how many keys it creates in a minute is limited. */
  async createLimited(request: FastifyRequest, account: Account) {
    const limiter = this.deps.dashboard?.limiter;
    const buckets = newKeyBuckets(account.id);
    await limiter?.take(buckets);
    try {
      return await this.create(request, actorOf(request), async () => account);
    } catch (error) {
      await limiter?.giveBack(buckets);
      throw error;
    }
  }

  async update(request: FastifyRequest, actor: Actor, accountOf: () => Promise<Account>, keyId: string) {
    const { name, ...fields } = keyFields(request, keyChange);
    const account = await accountOf();
    const terms = termsOf(fields, account, this.bounds);
    const change = { ...(name !== undefined && { name }), terms };
    return this.shown(account.id, keyId, await this.deps.directory.updateKey(actor, account.id, keyId, change));
  }

  async delete(actor: Actor, accountId: string, keyId: string): Promise<void> {
    if (!(await this.deps.directory.deleteKey(actor, accountId, keyId))) throw noSuchKey(keyId);
  }

  private async shown(accountId: string, keyId: string, key: ApiKey | null | undefined) {
    if (!key) throw noSuchKey(keyId);
    return this.json(key, (await this.figures(accountId, [key])).get(keyId) ?? unused);
  }

  /** What was spent through each key in its current period, with requests that have just ended, and its last use. */
  private async figures(accountId: string, keys: readonly ApiKey[]): Promise<Map<string, KeyFigures>> {
    const { directory, journal, store, clock } = this.deps;
    await journal.settled(settledWaitMs);
    const figures = await directory.keyFigures(accountId);
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
    return figures;
  }

  private json(key: ApiKey, { usagePico, lastUsedAt }: KeyFigures) {
    const { terms } = key;
    return {
      id: key.id,
      name: key.name,
      prefix: tokenPrefix,
      last_four: key.lastFour,
      expires_at: timeText(key.expiresAt),
      state: keyExpired(key, this.deps.clock.now()) ? 'expired' : terms.disabled ? 'disabled' : 'active',
      created_at: new Date(key.createdAt).toISOString(),
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
    };
  }
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
