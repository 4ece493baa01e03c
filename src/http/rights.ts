/** The rights that the endpoints of an account need, for sessions and management keys. `src/accounts/roles.ts` says who has them. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { noSuchProject } from '../accounts/projects/projects.js';
import { checkRight, type Right, reaches, type Standing } from '../accounts/roles.js';
import { gatewayError } from '../errors/gateway-error.js';

interface Rights {
  readonly read: Right;
  /** Also where it only reads, with a method that is not for reading. */
  readonly change: Right;
}

const readOnly = (right: Right): Rights => ({ read: right, change: right });

/** By the path behind `/v1` or `/dashboard/api`, or its first part. */
const rightsOfPaths: Readonly<Record<string, Rights>> = {
  'change-password': readOnly('self.change'),
  'two-factor': readOnly('self.change'),
  identities: readOnly('self.change'),
  sessions: readOnly('self.change'),
  catalogue: readOnly('catalogue.read'),
  models: readOnly('catalogue.read'),
  account: { read: 'account.read', change: 'account.change' },
  budget: readOnly('account.read'),
  key: readOnly('account.read'),
  overview: readOnly('usage.read'),
  usage: readOnly('usage.read'),
  'usage.csv': readOnly('usage.read'),
  activity: readOnly('usage.read'),
  generations: readOnly('usage.read'),
  generation: readOnly('usage.read'),
  credits: { read: 'credits.read', change: 'credits.change' },
  ledger: readOnly('credits.read'),
  notices: readOnly('credits.read'),
  keys: { read: 'keys.read', change: 'keys.change' },
  playground: readOnly('playground'),
  aliases: { read: 'settings.read', change: 'settings.change' },
  fallback: { read: 'settings.read', change: 'settings.change' },
  'routing-policy': { read: 'settings.read', change: 'settings.change' },
  policy: readOnly('settings.read'),
  routes: readOnly('settings.read'),
  projects: { read: 'projects.read', change: 'projects.change' },
  'project-names': readOnly('projects.read'),
  'projects/:id/keys': { read: 'keys.read', change: 'keys.change' },
  credentials: { read: 'credentials.read', change: 'credentials.change' },
  members: { read: 'members.read', change: 'members.change' },
  invitations: { read: 'members.read', change: 'members.change' },
  audit: readOnly('audit.read'),
};

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the endpoint needs; `operator` where the role in an account does not matter. */
    right?: Right | 'operator';
  }
}

/** Gives every route of `app` its right. A route without one ends the start, so that none is open by mistake. */
export function assignRights(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const path = route.url.replace(/^\/dashboard\/api/, '').replace(/^\/(v1\/)?/, '');
    const [first = ''] = path.split('/');
    const methods = [route.method].flat();
    const isReading = methods.every((method) => method === 'GET' || method === 'HEAD' || method === 'OPTIONS');
    const rights = rightsOfPaths[path] ?? rightsOfPaths[first];
    const found = first === 'operator' ? 'operator' : rights?.[isReading ? 'read' : 'change'];
    if (!found) throw new Error(`${methods} ${route.url} needs a right in src/http/rights.ts`);
    route.config = { ...route.config, right: found };
  });
}

/** Throws role_required, or no_membership for a session without an account. */
export function checkRouteRight(request: FastifyRequest): void {
  const { right } = request.routeOptions.config;
  if (right === undefined || right === 'operator') return;
  if (request.session && !request.session.current) {
    if (right !== 'self.change' || request.session.openedBy === 'admin_token') throw gatewayError('no_membership');
    return;
  }
  const standing = standingOf(request);
  checkReach(request, standing);
  checkRight(standing, right);
}

/** To whom does not reach a project, it does not exist, whatever their role. */
function checkReach({ routeOptions, params }: FastifyRequest, standing: Standing): void {
  const { id } = params as { id?: string };
  if (id === undefined || standing.projects === null || !routeOptions.url?.includes('/projects/:id')) return;
  if (!reaches(standing, id)) throw noSuchProject(id);
}

/** What the caller may do in the account: the role of the session, or that of a management key. Throws management_key_required. */
export function standingOf(request: FastifyRequest): Standing {
  if (request.session?.current) return request.session.current;
  const key = request.session ? undefined : request.identity?.key;
  if (key?.terms.kind !== 'management') throw gatewayError('management_key_required');
  return { role: 'admin', projects: key.projectId === null ? null : [key.projectId] };
}
