/** Signs people in at the identity providers of the configuration, and ends their sessions when they sign out there. */
import { createHash } from 'node:crypto';
import type { IdentityProvider } from '../../../config/identity-providers.js';
import { shownPersonId } from '../../../domain/organisation.js';
import type { GroupRoles } from '../../people/group-roles.js';
import { FewAtATime } from '../few-at-a-time.js';
import type { Cookies, SignIns } from '../sign-ins.js';
import { SignInFault } from './faults.js';
import { type FindPersonDeps, findPerson } from './find-person.js';
import { type Flow, FlowCookie, flowMs } from './flow-cookie.js';
import { Provider, type ProviderDeps } from './provider.js';
import type { Claims } from './read-claims.js';

interface SingleSignOnDeps extends FindPersonDeps, ProviderDeps {
  readonly providers: readonly IdentityProvider[];
  readonly signIns: Pick<SignIns, 'keyFor' | 'openByProvider'>;
  readonly groupRoles: GroupRoles;
  readonly secure: boolean;
  readonly clock: ProviderDeps['clock'];
  /** The dashboard's address, from the configuration and never from a request. */
  readonly dashboardUrl: () => string;
}

interface Begun {
  readonly url: string;
  /** The `Set-Cookie` value of the sign-in under way. */
  readonly cookie: string;
}

interface Return {
  /** The header. */
  readonly cookie: string | undefined;
  readonly query: string;
  readonly address: string;
}

export interface Finished {
  readonly personId: string;
  readonly claims: Claims;
  readonly cookies: Cookies;
  /** It began on the profile page. */
  readonly isLinked: boolean;
}

/** A sign-in waits for a provider, so many wait at once. Each ends within the time of a few calls. */
const runningMax = 50;
const waitingMax = 200;

export class SingleSignOn {
  private readonly providers: ReadonlyMap<string, Provider>;
  private readonly cookie: FlowCookie;
  private readonly running = new FewAtATime(runningMax, waitingMax);

  constructor(private readonly deps: SingleSignOnDeps) {
    this.providers = new Map(deps.providers.map((settings) => [settings.id, new Provider(settings, deps)]));
    const { clock, secure, signIns } = deps;
    this.cookie = new FlowCookie({ clock, secure, key: () => signIns.keyFor('sign-ins under way') });
  }

  /** The providers of the configuration, in its order. */
  list(): { id: string; name: string }[] {
    return this.deps.providers.map(({ id, name }) => ({ id, name }));
  }

  has(id: string): boolean {
    return this.providers.has(id);
  }

  /** The cookie value that ends a sign-in under way. */
  get endedCookie(): string {
    return this.cookie.ended;
  }

  /** Throws SignInFault. `linkTo` is the person who asks for another way to sign in. */
  async begin(id: string, linkTo: string | null = null): Promise<Begun> {
    const redirectUri = `${this.deps.dashboardUrl()}/api/oidc/${id}/callback`;
    const flow = this.cookie.new({ provider: id, redirectUri, linkTo });
    const url = await this.running.run(() => this.provider(id).beginAt(flow));
    return { url, cookie: await this.cookie.seal(flow) };
  }

  /** The person is back from the provider. Throws SignInFault. */
  async finish(id: string, { cookie, query, address }: Return): Promise<Finished> {
    const { identities, clock, signIns } = this.deps;
    const flow = await this.cookie.open(cookie);
    checkFlow(flow, id, query);
    const isFirst = await identities.useOnce(`state ${hashOf(flow.state)}`, flow.beganAt + flowMs, clock.now());
    if (!isFirst) throw new SignInFault('state_replayed');
    const provider = this.provider(id);
    const claims = await this.running.run(() => provider.finish(flow, query));
    const { issuer, subject, sid, isStrong } = claims;
    const person = await findPerson(this.deps, provider.settings, claims, { linkTo: flow.linkTo, address });
    const cookies = await signIns.openByProvider(person.id, { issuer, subject, sid, isStrong });
    return { personId: person.id, claims, cookies, isLinked: flow.linkTo !== null };
  }

  /** Ends the sessions that a logout token names, on every replica. `address` is the provider's. Throws SignInFault. */
  async logout(id: string, token: string, address: string): Promise<void> {
    const { identities, audit } = this.deps;
    const { issuer, subject, sid, jti, endsAt } = await this.running.run(() => this.provider(id).logout(token));
    // With a session, only that one.
    const count = await identities.endSessions(
      { issuer, subject, sid },
      `logout ${hashOf(`${issuer} ${jti}`)}`,
      endsAt,
    );
    if (count === null) throw new SignInFault('state_replayed', 'The logout token was used before.');
    const known = subject === null ? null : await identities.find(issuer, subject);
    const who = known ? shownPersonId(known.personId) : id;
    const gateway = { actor: 'system', by: null, address } as const;
    await audit.record(gateway, 'session.provider_logout', who, { provider: id, sid, sessions: count });
  }

  /** Warns about grants that give nothing. */
  async check(): Promise<void> {
    for (const { settings } of this.providers.values()) await this.deps.groupRoles.check(settings);
  }

  private provider(id: string): Provider {
    const provider = this.providers.get(id);
    if (!provider) throw new Error(`there is no identity provider ${id}`);
    return provider;
  }
}

function checkFlow({ provider, state }: Flow, id: string, query: string): void {
  if (provider !== id)
    throw new SignInFault('wrong_issuer', `The sign-in began at ${provider}, and its answer came to ${id}.`);
  if (new URLSearchParams(query).get('state') !== state) throw new SignInFault('state_mismatch');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
