/** The identity providers of `sign_in.oidc`: what their fields accept, and what they are once they are checked. */
import type { z } from 'zod';
import { isLoopbackHost } from '../base/ip-address.js';
import { credential, field, fields, listOf, oneOf, text, yesOrNo } from '../base/yaml-fields.js';
import type { YamlSource } from '../base/yaml-source.js';

/** Which role, or which operator rights, the members of a group get. */
export interface GroupGrant {
  readonly group: string;
  /** null where the grant is of operator rights only. */
  readonly member: {
    readonly account: string;
    readonly role: (typeof grantRoles)[number];
    /** Names or ids; null for all. */
    readonly projects: readonly string[] | null;
  } | null;
  readonly operator: boolean;
}

export interface IdentityProvider {
  readonly id: string;
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** null for a public client, which has PKCE alone. */
  readonly clientSecret: string | null;
  readonly scopes: readonly string[];
  /** The domains of the emails that the provider may speak for, in lower case. */
  readonly domains: readonly string[];
  readonly groupsClaim: string;
  /** A missing `email_verified` counts as true. */
  readonly trustEmail: boolean;
  readonly acrValues: readonly string[];
  readonly grants: readonly GroupGrant[];
}

const grantRoles = ['owner', 'admin', 'billing', 'developer', 'auditor'] as const;

const providerId = field('an id of letters, digits, ".", "_" and "-", at most 64 characters', (value) =>
  typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(value) ? value : undefined,
);

/** Kept as it is written, because tokens must name exactly the issuer of the discovery document. */
const issuer = field(
  'an https:// address without query, fragment and credentials; http:// only on a loopback address',
  (value) => {
    if (typeof value !== 'string' || !URL.canParse(value) || /[?#\s]/.test(value)) return undefined;
    const { protocol, hostname, username, password } = new URL(value);
    const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
    return isSafe && !username && !password ? value : undefined;
  },
);

const domain = field('a domain such as example.com, without @', (value) =>
  typeof value === 'string' && /^(?!-)[a-z0-9-]{1,63}(\.(?!-)[a-z0-9-]{1,63})*$/i.test(value)
    ? value.toLowerCase()
    : undefined,
);

/** A word of the request to the provider, where blanks separate words. */
const word = field('a text without blanks', (value) =>
  typeof value === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(value) ? value : undefined,
);

const groupGrant = fields({
  group: text,
  account: text.nullish(),
  role: oneOf(grantRoles).nullish(),
  projects: listOf(text, 'names or ids of projects').nullish(),
  operator: yesOrNo.nullish(),
});

const identityProvider = fields({
  id: providerId,
  name: text.nullish(),
  issuer,
  client_id: word,
  client_secret: credential.nullish(),
  client_secret_file: text.nullish(),
  scopes: listOf(word, 'scopes').nullish(),
  domains: listOf(domain, 'domains').refine((domains) => domains.length > 0, 'a list of at least one domain'),
  groups_claim: text.nullish(),
  trust_email: yesOrNo.nullish(),
  acr_values: listOf(word, 'values of acr').nullish(),
  grants: listOf(groupGrant, 'grants').nullish(),
});

export type WrittenProvider = z.infer<typeof identityProvider>;
type WrittenGrant = z.infer<typeof groupGrant>;

export const identityProviders: z.ZodType<WrittenProvider[]> = listOf(identityProvider, 'identity providers');

export function identityProvidersOf(written: readonly WrittenProvider[]): IdentityProvider[] {
  return written.map((provider) => ({
    ...{ id: provider.id, name: provider.name ?? provider.id, issuer: provider.issuer },
    ...{ clientId: provider.client_id, clientSecret: provider.client_secret ?? null },
    scopes: provider.scopes ?? ['openid', 'email', 'profile', 'groups'],
    ...{ domains: provider.domains, groupsClaim: provider.groups_claim ?? 'groups' },
    ...{ trustEmail: provider.trust_email ?? false, acrValues: provider.acr_values ?? [] },
    grants: (provider.grants ?? []).map(grantOf),
  }));
}

function grantOf({ group, account, role, projects, operator }: WrittenGrant): GroupGrant {
  const member = account && role ? { account, role, projects: projects ?? null } : null;
  return { group, member, operator: operator === true };
}

/** The rules between the fields of a provider, which say where the fault is. */
export function checkIdentityProviders(source: YamlSource, written: readonly WrittenProvider[]): void {
  const ids = new Set<string>();
  for (const [index, { id, scopes, grants }] of written.entries()) {
    const path = ['sign_in', 'oidc', index];
    if (ids.has(id))
      source.faultAt([...path, 'id'], `found "${id}" twice, expected an id of its own for each provider`);
    ids.add(id);
    if (scopes && !scopes.includes('openid'))
      source.faultAt([...path, 'scopes'], 'found a list without openid, expected a list with it');
    for (const [place, grant] of (grants ?? []).entries()) checkGrant(source, [...path, 'grants', place], grant);
  }
}

function checkGrant(source: YamlSource, path: PropertyKey[], grant: WrittenGrant): void {
  const { account, role, projects, operator } = grant;
  if (!account !== !role)
    source.faultAt(
      [...path, account ? 'role' : 'account'],
      'missing, expected a value, because a role is in an account',
    );
  else if (!account && operator !== true)
    source.faultAt(path, 'found a grant of nothing, expected `account` and `role`, or `operator: true`');
  if (projects && role !== 'developer')
    source.faultAt(
      [...path, 'projects'],
      `found projects, expected none, because the role ${role} reaches all of them`,
    );
}
