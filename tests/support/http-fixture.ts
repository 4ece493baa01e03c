/** The HTTP layer over a memory store, with a clock that the test moves: one account, one key, an admin token. */
import type { ServerResponse } from 'node:http';
import { AuditLog } from '../../src/accounts/audit.js';
import { AccountDirectory } from '../../src/accounts/directory.js';
import { BroughtTokens } from '../../src/accounts/keys/brought-tokens.js';
import { NameBook } from '../../src/accounts/names/name-book.js';
import { GroupRoles } from '../../src/accounts/people/group-roles.js';
import { Invitations } from '../../src/accounts/people/invitations.js';
import { Members } from '../../src/accounts/people/members.js';
import { DemoClaim } from '../../src/accounts/sign-in/demo-claim.js';
import { GuessLimiter } from '../../src/accounts/sign-in/guess-limiter.js';
import { SingleSignOn } from '../../src/accounts/sign-in/oidc/single-sign-on.js';
import { PasswordResets } from '../../src/accounts/sign-in/password-resets.js';
import { SignIns } from '../../src/accounts/sign-in/sign-ins.js';
import { TwoFactor } from '../../src/accounts/sign-in/two-factor.js';
import { silentLogger } from '../../src/base/logger.js';
import { countsOf } from '../../src/catalogue/counts.js';
import { MemoryBuckets, MemoryCounters } from '../../src/cluster/memory.js';
import { ModelStates } from '../../src/health/model-states.js';
import { QuotaHolds } from '../../src/health/quota-holds.js';
import { RouteDays } from '../../src/health/route-days.js';
import { RouteHealth } from '../../src/health/route-health.js';
import { RouteStatus } from '../../src/health/route-status.js';
import { buildApp } from '../../src/http/app.js';
import type { HttpDeps } from '../../src/http/deps.js';
import { AdminLimiter } from '../../src/limits/admin-limiter.js';
import { BodyMemory } from '../../src/limits/body-memory.js';
import { IpLimiter, ipRateLimited, KeyLimiter } from '../../src/limits/rate-limits.js';
import { Meters } from '../../src/observability/metrics/meters.js';
import { NoticeTests } from '../../src/payments/notice-test.js';
import { ProxyTrust } from '../../src/territory/caller-address.js';
import { Territories } from '../../src/territory/territories.js';
import { territoryOfCode } from '../../src/territory/territory.js';
import { ManualClock } from './manual-clock.js';
import { memoryNames } from './memory-names.js';
import { MemoryStore } from './memory-store.js';
import { smallSnapshot } from './snapshot.js';

export const adminToken = 'admin-secret-of-the-fixture';
export const dashboardOrigin = 'https://ai.example.com';

/** No other process serves the same accounts. */
export const singleProcess: HttpDeps['deployment'] = {
  refreshStates: () => undefined,
  findSettledElsewhere: async () => null,
  degraded: () => [],
  figures: () => ({}),
};

const refuse = () => Promise.reject(new Error('this fixture has no updates of the catalogue'));
const refusedUpdates: HttpDeps['catalogueUpdates'] = { list: refuse, apply: refuse, rollback: refuse };

export async function httpFixture(overrides: Partial<HttpDeps> = {}) {
  const clock = new ManualClock();
  const store = new MemoryStore();
  const audit = new AuditLog(store.audit, clock, silentLogger);
  const directory = new AccountDirectory({ store, clock, audit, logger: silentLogger });
  const account = await directory.createAccount('system', { email: 'owner@example.com', name: 'Owner' });
  const { key, token } = await directory.createKey('system', { accountId: account.id, name: 'first', expiresAt: null });
  const expiry = { seenCount: 0, noteExpiredKey: () => void expiry.seenCount++, noteNewKey: () => {} };
  const lifecycle = { draining: false };
  const health = new RouteHealth(clock, { failures: 5, windowMs: 30_000, cooldownMs: 30_000, probeMaxMs: 305_000 });
  const limits = { keyRequestsPerMinute: 600, keyTokensPerMinute: 1_000_000 };
  const sanctioned = { codes: new Set(['CU']), names: new Map() };
  /** Where every request comes from, its connection's peer unless a test moves it. `CU` is sanctioned. */
  const place: { address: string | null; code: string } = { address: null, code: 'DE' };
  const holds = new QuotaHolds({ store: store.holds, clock, logger: silentLogger });
  const tokens = { admin: adminToken, metrics: 'a-metrics-token-of-some-length' };
  const signInDeps = {
    store: store.signIn,
    people: store.people,
    identities: store.identities,
    passwords: true,
    directory,
    clock,
    tokens,
    baseUrl: dashboardOrigin,
    secure: true,
  };
  const signIns = new SignIns(signInDeps);
  const resets = new PasswordResets({
    ...{ store, directory, signIns, audit, clock, logger: silentLogger, mailer: null },
    dashboardUrl: () => `${dashboardOrigin}/dashboard`,
  });
  const dashboardUrl = () => `${dashboardOrigin}/dashboard`;
  const shared = { people: store.people, directory, audit, clock, logger: silentLogger };
  const members = new Members(shared);
  const invitations = new Invitations({ ...shared, mailer: null, dashboardUrl });
  const singleSignOn = new SingleSignOn({
    ...{ ...shared, members, invitations, signIns, dashboardUrl, identities: store.identities, providers: [] },
    ...{ groupRoles: new GroupRoles({ ...shared, members }), secure: true },
    fetch: () => Promise.reject(new Error('no identity provider is called')),
  });
  const playground = (_door: unknown, _req: unknown, res: ServerResponse) => void res.end('playground');
  const deps: HttpDeps = {
    ...{ clock, logger: silentLogger, store, directory, audit, expiry, tokens },
    exchange: { allows: () => true, exchange: () => Promise.reject(new Error('this fixture exchanges no tokens')) },
    members,
    invitations,
    modelStates: new ModelStates(store.availability),
    ...{ health, holds, meters: new Meters(), statusIsPublic: true },
    noticeTests: new NoticeTests({ webhook: null, mail: null, clock }),
    routeDays: new RouteDays({ store: store.routeHistory, clock, threshold: { minRequests: 20, minAccounts: 3 } }),
    routeStatus: new RouteStatus({ store: store.routeHistory, clock, threshold: { minRequests: 20, minAccounts: 3 } }),
    catalogueUpdates: refusedUpdates,
    names: new NameBook(memoryNames()),
    brought: new BroughtTokens({
      ...{ store: store.brought, guesses: new MemoryCounters(clock), announce: async () => {} },
      ...{ peerOf: (address) => address, refusalOf: ipRateLimited },
    }),
    catalogue: { current: smallSnapshot(), reload: async () => ({ ok: true, ...countsOf(smallSnapshot()) }) },
    journal: { settled: async () => true },
    deployment: singleProcess,
    retention: null,
    proof: { sealer: null, rotate: null, state: () => store.log.state(), baseUrl: () => dashboardOrigin },
    limits,
    credentials: {
      candidatesOf: (_identity, routes) => routes,
      check: async () => ({ verdict: 'ok' }),
      written: async () => {},
      rotate: refuse,
      hasKeyFault: false,
    },
    https: false,
    isStarted: () => true,
    originOf: (req) => ({
      address: place.address ?? req.socket.remoteAddress ?? '',
      territory: territoryOfCode(place.code),
    }),
    territories: new Territories({ trust: new ProxyTrust([], ''), countryHeader: null, database: null, sanctioned }),
    adminLimiter: new AdminLimiter(new MemoryCounters(clock), clock),
    ipLimiter: new IpLimiter(3000, new MemoryCounters(clock)),
    keyLimiter: new KeyLimiter(limits, new MemoryCounters(clock), new MemoryCounters(clock)),
    bodyMemory: new BodyMemory({ bytesMax: 512 * 1024 * 1024 }),
    chat: (_req, res) => void res.end('chat'),
    explain: async () => ({}),
    payments: {
      open: async () => ({ id: 'cs_test_1', url: 'https://checkout.example.com/cs_test_1' }),
      receive: async () => 'recorded',
    },
    createSignIn: (owner, password) => signIns.setPassword(owner, password),
    dashboard: {
      ...{
        signIns,
        resets,
        playground,
        limiter: new GuessLimiter(new MemoryBuckets(clock)),
        singleSignOn,
        passwords: true,
        secure: true,
        payments: 'none',
        version: '0.0.0',
      },
      twoFactor: new TwoFactor({ store: store.signIn.twoFactor, signIns, audit, clock }),
      operatorsNeedTwoFactor: false,
      demoClaim: new DemoClaim({ store, directory, signIns, clock }),
      registration: 'open',
      welcomeCreditPico: 0n,
      configured: { baseUrl: dashboardOrigin, dashboardUrl: null },
      addresses: () => ({
        base: dashboardOrigin,
        dashboard: `${dashboardOrigin}/dashboard`,
        docs: `${dashboardOrigin}/docs`,
      }),
      displayCurrency: null,
      lowBalancePico: 1_000_000_000_000n,
      files: '/nowhere',
    },
    ...overrides,
  };
  const app = await buildApp(deps, lifecycle);
  const asKey = { authorization: `Bearer ${token}` };
  const asAdmin = { authorization: `Bearer ${adminToken}` };
  return {
    ...{ app, deps, store, directory, health, holds, account, key, token, clock, expiry, lifecycle, place },
    ...{ asKey, asAdmin },
  };
}

export type HttpFixture = Awaited<ReturnType<typeof httpFixture>>;
