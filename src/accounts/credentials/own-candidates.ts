/**
 * Makes candidates of routes with the credentials of an account and its projects: each is the route of the catalogue with another
 * credential, agreement and health. They are made once for a list of credentials, so that what is kept with a list of routes stays.
 */
import { withOwnAgreement } from '../../base/data-policy.js';
import type { Fee, Provider, Route } from '../../catalogue/route.js';
import type { Identity } from '../../domain/account.js';
import { covers, type OwnCredential, type Secret, SecretUnavailable, usableIn } from '../../domain/credential.js';
import { placeOf, secretKindOf } from './secret-kind.js';
import type { Sightings } from './sightings.js';
import type { Vault } from './vault.js';

interface OwnCandidatesDeps<Health> {
  readonly vault: Vault;
  /** What is observed of candidates is kept elsewhere, under their health keys. */
  readonly health: Health;
  readonly sightings: Sightings;
  readonly fee: Fee;
}

type Routes = readonly Route[];

/** By the list of credentials: for each project, the lists of routes with their candidates. */
type Made = Map<string, WeakMap<Routes, Routes>>;

export class OwnCandidateMaker<Health = unknown> {
  readonly health: Health;
  readonly hasFee: boolean;
  private readonly made = new WeakMap<readonly OwnCredential[], Made>();
  private readonly derived = new WeakMap<OwnCredential, WeakMap<Route, Route>>();
  private readonly sources = new WeakMap<object, OwnCredential>();

  constructor(private readonly deps: OwnCandidatesDeps<Health>) {
    this.health = deps.health;
    this.hasFee = deps.fee.percent > 0n || deps.fee.perRequestPico > 0n;
  }

  candidatesOf({ account, project }: Identity, routes: Routes): Routes {
    let made = this.made.get(account.credentials);
    if (made === undefined) {
      made = new Map();
      this.made.set(account.credentials, made);
    }
    let ofProject = made.get(project.id);
    if (ofProject === undefined) {
      ofProject = new WeakMap();
      made.set(project.id, ofProject);
    }
    let candidates = ofProject.get(routes);
    if (candidates === undefined) {
      candidates = this.make(account.credentials, project.id, routes);
      ofProject.set(routes, candidates);
    }
    return candidates;
  }

  /** The routes with this credential alone. */
  onlyOf(credential: OwnCredential, routes: Routes): Routes {
    return routes.map((route) => this.derive(credential, route));
  }

  /** The credential that a candidate was made with. */
  credentialOf({ credential }: Pick<Route, 'credential'>): OwnCredential {
    const source = credential && this.sources.get(credential);
    if (!source) throw new Error('This candidate has no credential of a customer.');
    return source;
  }

  /** Throws SecretUnavailable. */
  secretOf(route: Route): Secret {
    return this.deps.vault.secretOf(this.credentialOf(route));
  }

  /** Rejects with SecretUnavailable. */
  async reopen(route: Route): Promise<Secret> {
    try {
      return await this.deps.vault.reopen(this.credentialOf(route));
    } catch (error) {
      if (error instanceof SecretUnavailable) this.note(route, error.message);
      throw error;
    }
  }

  note(route: Route, refusal: string | null): void {
    this.deps.sightings.note(this.credentialOf(route), refusal);
  }

  mask(route: Route, text: string): string {
    let secret: Secret;
    try {
      secret = this.secretOf(route);
    } catch {
      return text;
    }
    return masked(text, secret);
  }

  private make(credentials: readonly OwnCredential[], projectId: string, routes: Routes): Routes {
    const usable = usableIn(projectId, credentials);
    if (!routes.some(({ provider }) => usable.some((each) => each.provider === provider.id))) return routes;
    const candidates = routes.flatMap((route) => this.group(usable, route));
    return candidates.length === routes.length && candidates.every((each, i) => each === routes[i])
      ? routes
      : candidates;
  }

  /** A route with its credentials, in the order of their use. */
  private group(usable: readonly OwnCredential[], route: Route): Routes {
    const own = [bestOf(usable, route, true), bestOf(usable, route, false)].filter((each) => each !== undefined);
    const [ofProject, ofAccount] = [own.find(isProjects), own.find((each) => !isProjects(each))];
    if (secretKindOf(route.provider) === null || own.length === 0) return [route];
    if (ofProject?.use === 'only') return [this.derive(ofProject, route)];
    const before = own.filter(({ use }) => use !== 'last').map((each) => this.derive(each, route));
    const after = own.filter(({ use }) => use === 'last').map((each) => this.derive(each, route));
    return ofAccount?.use === 'only' ? [...before, ...after] : [...before, route, ...after];
  }

  private derive(credential: OwnCredential, route: Route): Route {
    let routes = this.derived.get(credential);
    if (routes === undefined) {
      routes = new WeakMap();
      this.derived.set(credential, routes);
    }
    const known = routes.get(route);
    if (known) return known;
    const { agreement, id, name, use, projectId, revision } = credential;
    const { dataPolicy, publishedPolicy, ...rest } = route;
    const published = publishedPolicy === undefined ? dataPolicy : publishedPolicy;
    const policy = withOwnAgreement(published, agreement, route.locode === 'global');
    // A new secret begins anew.
    const secretKey = `${id}.${revision}`;
    const own = {
      ...{ id, name, use, owner: projectId === null ? ('account' as const) : ('project' as const) },
      ...{ secretKey, healthKey: `${route.id} ${secretKey}`, fee: this.deps.fee },
    };
    this.sources.set(own, credential);
    const address = addressOn(route);
    const candidate: Route = {
      ...rest,
      ...(policy && { dataPolicy: policy }),
      provider: ownProvider(route.provider, address !== 'absent'),
      credential: own,
    };
    if (address === 'named') {
      // Read with the secret, which is not kept for longer than it is used.
      const baseUrl = { enumerable: true, get: () => this.namedAddress(credential, route) };
      Object.defineProperty(candidate, 'baseUrl', baseUrl);
    }
    routes.set(route, candidate);
    return candidate;
  }

  private namedAddress(credential: OwnCredential, { writtenUrl = '', baseUrl }: Route): string {
    try {
      const place = placeOf(this.deps.vault.secretOf(credential));
      return place === undefined ? baseUrl : writtenUrl.replace(variables, place);
    } catch (error) {
      // The call fails before it is sent.
      if (error instanceof SecretUnavailable) return baseUrl;
      throw error;
    }
  }
}

/**
 * Addresses are the catalogue's. Where the name of a resource or project of the operator is in one, that of the secret takes its place,
 * but never that of the whole address: a customer does not choose where the gateway connects to.
 */
function addressOn({ provider, writtenUrl }: Route): 'fixed' | 'named' | 'absent' {
  const kind = secretKindOf(provider);
  if (writtenUrl !== undefined && !writtenUrl.startsWith('${') && (kind === 'azure' || kind === 'vertex'))
    return 'named';
  return provider.absentVariables === undefined ? 'fixed' : 'absent';
}

const variables = /\$\{[A-Za-z_][A-Za-z0-9_]*(?::-[A-Za-z0-9._-]+)?\}/g;

const isProjects = ({ projectId }: OwnCredential): boolean => projectId !== null;

/** One with a list of models wins over one for all of them. */
function bestOf(
  usable: readonly OwnCredential[],
  { provider, model }: Route,
  ofProject: boolean,
): OwnCredential | undefined {
  const fitting = usable.filter(
    (each) =>
      each.provider === provider.id && isProjects(each) === ofProject && covers(each, model.creator, model.model),
  );
  return fitting.find(({ models }) => models !== null) ?? fitting[0];
}

/** Without anything of the operator's. */
function ownProvider({ absentVariables: _, keys: _all, ...provider }: Provider, configured: boolean): Provider {
  return { ...provider, apiKey: null, auth: 'key', configured };
}

/** A shorter text could be any. */
const secretMin = 6;

/** The text without the parts of a secret; also where a secret is cut off at its end. */
export function masked(text: string, secret: Secret): string {
  let clean = text;
  for (const part of secretParts(secret)) {
    clean = clean.replaceAll(part, '[…]');
    const end = clean.endsWith('…') ? clean.length - 1 : clean.length;
    for (let length = Math.min(part.length - 1, end); length >= secretMin; length--) {
      if (clean.endsWith(part.slice(0, length), end)) {
        clean = `${clean.slice(0, end - length)}[…]`;
        break;
      }
    }
  }
  return clean;
}

function secretParts({ api_key, access_key_id, secret_access_key, session_token, service_account }: Secret): string[] {
  const key = service_account?.private_key;
  const parts = [api_key, access_key_id, secret_access_key, session_token, key, service_account?.private_key_id];
  return parts.filter((part): part is string => part !== undefined && part.length >= secretMin);
}
