/** Exchanges the token of a workload for a key of a project that trusts its issuer (RFC 8693). */
import type { Clock } from '../../base/time.js';
import type { Counters } from '../../cluster/ports.js';
import { type Account, openTerms } from '../../domain/account.js';
import { defaultProjectId, type Project, type TrustEntry, trustEntryId } from '../../domain/organisation.js';
import { GatewayError, gatewayError } from '../../errors/gateway-error.js';
import type { WorkloadStore } from '../../storage/store.js';
import type { ActorDetails, AuditLog } from '../audit.js';
import { makeToken } from '../keys/token.js';
import { IssuerAway, type IssuerKeys } from './issuer-keys.js';
import { type Claims, entryFor } from './trust.js';
import { leewayMs, readJwt, TokenRefused, verifyJwt } from './verify-jwt.js';

const keyMsMax = 3_600_000;
const exchangesPerToken = 20;
const exchangesPerMinute = 30;
const failuresPerMinute = 60;
/** The refusals written to the audit log in one minute. Many addresses at once must not fill the store. */
const auditedPerMinute = 600;
/** The counter of audited refusals; no address has this name, or one that begins with "429 of". */
const audited = 'audited';
/** The last time that the store can keep, and a token may claim a later one. */
const timeMax = Date.UTC(9999, 0);

interface TokenExchangeDeps {
  store: WorkloadStore;
  account: (id: string) => Promise<Account | null>;
  keys: IssuerKeys;
  audit: AuditLog;
  clock: Clock;
  /** The exchanges of projects. */
  exchanges: Counters;
  /** The refusals of addresses. */
  failures: Counters;
  /** The name under which an address is counted. */
  peerOf: (address: string) => string;
  /** A key was made that ends then. */
  noteNewKey: (expiresAt: number) => void;
  /** The address of the API as clients see it. */
  base: () => string;
}

export interface ExchangeRequest {
  readonly projectId: string;
  readonly token: string;
}

interface ExchangedKey {
  readonly token: string;
  readonly expiresInSeconds: number;
}

/** What was learnt of a request until it was refused. */
interface Attempt {
  project?: Project;
  issuer?: string;
  subject?: string;
}

export class TokenExchange {
  constructor(private readonly deps: TokenExchangeDeps) {}

  /** Whether the operator allows the issuer. */
  allows(issuer: string): boolean {
    return this.deps.keys.allows(issuer);
  }

  /** `read` makes the request out of what was sent. Throws rows of the table of workloads. */
  async exchange(address: string, read: () => ExchangeRequest): Promise<ExchangedKey> {
    const peer = this.deps.peerOf(address);
    const attempt: Attempt = {};
    try {
      const { admitted, resetMs } = await this.deps.failures.take(peer, 0, failuresPerMinute - 1);
      if (!admitted) throw tooMany('failed exchanges of this address', failuresPerMinute, resetMs);
      return await this.attempt(address, read(), attempt);
    } catch (error) {
      const refusal = asRefusal(error);
      if (refusal === null) throw error;
      await this.auditRefusal(address, attempt, refusal);
      if (refusal.status === 400) await this.countFailure(peer);
      throw refusal;
    }
  }

  private async attempt(address: string, request: ExchangeRequest, attempt: Attempt): Promise<ExchangedKey> {
    const { keys, clock, base, exchanges } = this.deps;
    const { projectId, token } = request;
    const read = await readJwt(token);
    if (!read) throw gatewayError('exchange_request_invalid', { reason: 'subject_token is no JWT of an issuer' });
    const { issuer, digest } = read;
    attempt.issuer = issuer;
    const account = await this.ownerOf(projectId);
    const project = account?.projects.get(projectId);
    if (!account || !project || project.trust.length === 0) throw gatewayError('exchange_target_invalid');
    attempt.project = project;
    if (!keys.allows(issuer) || !project.trust.some((entry) => entry.issuer === issuer))
      throw new TokenRefused(`is of the issuer ${quoted(issuer)}, which this project does not trust`);
    const claims = await verifyJwt(token, issuer, keys, clock.now());
    if (typeof claims.sub === 'string') attempt.subject = claims.sub;
    const audience = `${base()}/projects/${project.id}`;
    const entry = entryFor(project.trust, claims, audience);
    if (!entry) throw new TokenRefused(unmatched(claims, audience));
    const taken = await exchanges.take(project.id, 1, exchangesPerMinute);
    if (!taken.admitted) throw tooMany('exchanges of this project', exchangesPerMinute, taken.resetMs);
    try {
      return await this.makeKey({ account, project, entry, claims, digest, address });
    } catch (error) {
      await taken.adjust(-1);
      throw error;
    }
  }

  private async ownerOf(projectId: string): Promise<Account | null> {
    if (!/^proj-[\w-]{1,100}$/.test(projectId)) return null;
    const id = await this.deps.store.ownerOf(projectId);
    return id === null ? null : this.deps.account(id);
  }

  private async makeKey({ account, project, entry, claims, digest, address }: Admitted): Promise<ExchangedKey> {
    const { store, clock, audit } = this.deps;
    const now = clock.now();
    const { token, id, lastFour, hash } = makeToken();
    const { issuer, allowedModels, allowedProviders } = entry;
    const subject = String(claims.sub);
    const expiresAt = endOf(claims.exp, now);
    const projectId = project.id === defaultProjectId(account.id) ? null : project.id;
    const key: Parameters<WorkloadStore['create']>[0] = {
      ...{ id, accountId: account.id, name: nameOf(subject), lastFour, hash, expiresAt, createdAt: now },
      terms: { ...openTerms, allowedModels, allowedProviders },
      ...{ projectId, holderId: null, workload: { entry: trustEntryId(entry), issuer, subject } },
    };
    const endsAt = Math.min(claims.exp * 1000 + leewayMs, timeMax);
    const outcome = await store.create(key, { digest, endsAt, most: exchangesPerToken });
    if (outcome === 'used_up')
      throw new TokenRefused(`was exchanged ${exchangesPerToken} times, as often as a token may be`);
    if (outcome === 'untrusted') throw new TokenRefused('came by an entry that this project has no longer');
    this.deps.noteNewKey(expiresAt);
    const by: ActorDetails = { actor: `account:${account.id}`, by: `key:${id}`, address };
    await audit.record(by, 'key.exchange', id, {
      ...{ account_id: account.id, project: project.id, issuer, subject: subject.slice(0, 500) },
      ...(typeof claims.jti === 'string' && { jti: claims.jti.slice(0, 200) }),
      expires_at: new Date(expiresAt).toISOString(),
    });
    return { token, expiresInSeconds: Math.floor((expiresAt - now) / 1000) };
  }

  /** Throws exchange_rate_limited. */
  private async countFailure(peer: string): Promise<void> {
    const { admitted, resetMs } = await this.deps.failures.take(peer, 1, failuresPerMinute);
    if (!admitted) throw tooMany('failed exchanges of this address', failuresPerMinute, resetMs);
  }

  private async auditRefusal(address: string, attempt: Attempt, refusal: GatewayError): Promise<void> {
    const { failures, audit } = this.deps;
    const { project, issuer, subject } = attempt;
    // One a minute says that the limit is passed; how often is for whoever counts requests.
    const once = `429 of ${project?.id ?? this.deps.peerOf(address)}`;
    if (refusal.status === 429 && !(await failures.take(once, 1, 1)).admitted) return;
    if (!(await failures.take(audited, 1, auditedPerMinute)).admitted) return;
    const by: ActorDetails = { actor: 'anonymous', by: null, address };
    const details = {
      ...{ error: refusal.row.code, reason: refusal.message.slice(0, 500) },
      ...(issuer !== undefined && { issuer: issuer.slice(0, 500) }),
      ...(subject !== undefined && { subject: subject.slice(0, 500) }),
    };
    await audit.record(by, 'key.exchange_refused', project?.id ?? 'token', details, project?.accountId ?? null);
  }
}

interface Admitted {
  readonly account: Account;
  readonly project: Project;
  readonly entry: TrustEntry;
  readonly claims: Claims & { exp: number };
  readonly digest: Buffer;
  readonly address: string;
}

/** After at most an hour and with the token; one that is only accepted because clocks differ ends with the leeway. */
function endOf(exp: number, nowMs: number): number {
  const expMs = exp * 1000;
  return Math.floor(Math.min(nowMs + keyMsMax, expMs > nowMs ? expMs : expMs + leewayMs));
}

/** null where the error is no answer to the request, such as a store that is away. */
function asRefusal(error: unknown): GatewayError | null {
  if (error instanceof GatewayError) return error;
  if (error instanceof TokenRefused) return gatewayError('exchange_grant_invalid', { reason: error.message });
  if (error instanceof IssuerAway)
    return gatewayError('exchange_issuer_away', undefined, { retryAfterSeconds: awaySeconds });
  return null;
}

const awaySeconds = 5;

function tooMany(what: string, limit: number, resetMs: number): GatewayError {
  const seconds = Math.max(1, Math.ceil(resetMs / 1000));
  return gatewayError('exchange_rate_limited', { what, limit, seconds }, { retryAfterSeconds: seconds });
}

function unmatched({ sub, aud }: Claims, audience: string): string {
  return `matches no entry of this project's trust; its "sub" is ${quoted(sub)} and its "aud" ${quoted(aud)}, where ${quoted(audience)} is expected unless the entry says otherwise`;
}

function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

const nameLength = 100;

function nameOf(subject: string): string {
  const characters = [...subject.replace(/[\p{Cc}\p{Cs}]/gu, ' ').trim()];
  return characters.length === 0 ? 'workload' : characters.slice(0, nameLength).join('');
}
