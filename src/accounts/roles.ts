/** What each role may do in an account. Every endpoint of the dashboard and of management keys is checked by this table. */
import { type Membership, type Role, roles } from '../domain/organisation.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';

const everybody: readonly Role[] = roles;

/** For each right, the roles that have it. A developer has the rights on keys, projects and usage in their own projects only. */
const rights = {
  /** The own person: password, two-factor sign-in. */
  'self.change': everybody,
  'catalogue.read': everybody,
  'account.read': everybody,
  /** A change of the account. Of its fields, a role may change only those that the next three are about. */
  'account.change': ['owner', 'admin', 'billing'],
  /** The name, and whether inference keys change settings. */
  'account.manage': ['owner', 'admin'],
  /** Whether the end users of requests are recorded. */
  'account.recording': ['owner'],
  'account.close': ['owner'],
  'account.budget': ['owner', 'billing'],
  /** Whether budgets count what own credentials have paid for. */
  'account.counting': ['owner', 'billing'],
  'usage.read': everybody,
  'credits.read': ['owner', 'admin', 'billing', 'auditor'],
  'credits.change': ['owner', 'billing'],
  'keys.read': ['owner', 'admin', 'developer', 'auditor'],
  'keys.change': ['owner', 'admin', 'developer'],
  /** Management keys, keys of other people, and keys of the project. */
  'keys.manage': ['owner', 'admin'],
  playground: ['owner', 'admin', 'developer'],
  /** Routing policy, aliases and fallback chain. */
  'settings.read': ['owner', 'admin', 'developer', 'auditor'],
  'settings.change': ['owner', 'admin'],
  'projects.read': everybody,
  /** A change of a project. Of its fields, a role may change only the budget where it has no `projects.manage`. */
  'projects.change': ['owner', 'admin', 'billing'],
  'projects.manage': ['owner', 'admin'],
  'projects.budget': ['owner', 'admin', 'billing'],
  /** Credentials at providers. */
  'credentials.read': ['owner', 'admin', 'auditor'],
  'credentials.change': ['owner', 'admin'],
  'members.read': ['owner', 'admin', 'auditor'],
  /** Members below admin. */
  'members.change': ['owner', 'admin'],
  /** Members who are admins or owners, or become it. */
  'members.manage': ['owner'],
  'audit.read': ['owner', 'admin', 'auditor'],
} as const satisfies Record<string, readonly Role[]>;

export type Right = keyof typeof rights;

/** Rights that nobody has who is bound to projects, because they are about the whole account. */
const ofTheAccount: ReadonlySet<Right> = new Set<Right>([
  ...([
    'account.manage',
    'account.recording',
    'account.close',
    'account.budget',
    'credits.read',
    'credits.change',
  ] as const),
  ...(['settings.change', 'members.read', 'members.change', 'members.manage', 'audit.read'] as const),
]);

/** What somebody may do in an account. */
export interface Standing {
  readonly role: Role;
  /** The projects that they reach; null for all. */
  readonly projects: readonly string[] | null;
}

/** The refusal of what the role does not allow; null where it does. */
function roleRefusal({ role, projects }: Standing, right: Right): GatewayError | null {
  const allowed: readonly Role[] = rights[right];
  const inProject = projects !== null && ofTheAccount.has(right);
  if (allowed.includes(role) && !inProject) return null;
  return gatewayError('role_required', { role, needed: rolesText(allowed), inProject });
}

export function checkRight(standing: Standing, right: Right): void {
  const refusal = roleRefusal(standing, right);
  if (refusal) throw refusal;
}

export function mayDo(standing: Standing, right: Right): boolean {
  return roleRefusal(standing, right) === null;
}

/** For each right that somebody lacks, the sentence that says who has it. */
export function lackedRights(standing: Standing): Partial<Record<Right, string>> {
  const refused = (Object.keys(rights) as Right[]).flatMap((right) => {
    const refusal = roleRefusal(standing, right);
    return refusal ? [[right, refusal.message] as const] : [];
  });
  return Object.fromEntries(refused);
}

export function reaches({ projects }: Standing, projectId: string): boolean {
  return projects === null || projects.includes(projectId);
}

/** The right that changing or removing a member of this role takes, or making somebody one. */
export function memberRight(role: Role): Right {
  return role === 'owner' || role === 'admin' ? 'members.manage' : 'members.change';
}

/** The role in force of several: the highest, and of two equal ones the one by hand. Only developers are bound to projects. */
export function membershipInForce(memberships: readonly Membership[]): Membership {
  const inOrder = [...memberships].sort(
    (one, other) =>
      roles.indexOf(one.role) - roles.indexOf(other.role) ||
      Number(one.source !== 'manual') - Number(other.source !== 'manual') ||
      (one.source < other.source ? -1 : 1),
  );
  const first = inOrder[0]!;
  const same = inOrder.filter(({ role }) => role === first.role);
  const isBound = first.role === 'developer' && same.every(({ projects }) => projects !== null);
  return { ...first, projects: isBound ? joined(same) : null };
}

function joined(memberships: readonly Membership[]): string[] {
  return [...new Set(memberships.flatMap(({ projects }) => projects ?? []))];
}

function rolesText(allowed: readonly Role[]): string {
  return allowed.length === 1 ? allowed[0]! : `${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`;
}
