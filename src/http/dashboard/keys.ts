/**
 * The API keys of the signed-in account. Only the answer to the creation contains the token. A developer sees, makes and changes the
 * keys that they hold, in the projects that they reach.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { keyLabel } from '../../accounts/keys/token.js';
import { checkRight, reaches } from '../../accounts/roles.js';
import type { ApiKey } from '../../domain/account.js';
import { defaultProjectId } from '../../domain/organisation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { actorOf } from '../admin/audit.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { holderOf, makersHolder, managesKeys, seesKeys, sentField } from '../keys/key-makers.js';
import { KeyRecords } from '../keys/key-records.js';
import { standingOf } from '../rights.js';

type WithId = { Params: { id: string } };

export function registerOwnKeys(app: FastifyInstance, deps: HttpDeps): void {
  const records = new KeyRecords(deps);

  app.get('/keys', async (request) => {
    const { id } = accountOf(request);
    const keys = await records.list(id);
    const own = seesKeys(request) ? null : new Set((await ownKeys(deps, request)).map((key) => key.id));
    const seen = own ? keys.filter((key) => own.has(key.id)) : keys;
    const holders = await holderEmails(deps, id);
    return {
      object: 'list',
      data: seen.reverse().map((key) => ({ ...withLabel(key), holder_email: holders.get(key.id) ?? null })),
    };
  });

  app.post('/keys', async (request, reply) => {
    const account = accountOf(request);
    const holderId = makersHolder(request);
    if (holderId !== null) checkOwnProject(request, account.id);
    return reply.code(201).send(withLabel(await records.createLimited(request, account, { holderId })));
  });

  app.patch<WithId>('/keys/:id', async (request) => {
    const account = accountOf(request);
    await checkReach(deps, request, request.params.id);
    return withLabel(await records.update(request, actorOf(request), async () => account, request.params.id));
  });

  app.delete<WithId>('/keys/:id', async (request, reply) => {
    await checkReach(deps, request, request.params.id);
    const { id } = accountOf(request);
    await records.delete(actorOf(request), id, request.params.id);
    return reply.code(204).send();
  });
}

/** The email of who holds each key, by the id of the key. */
async function holderEmails({ directory, store }: HttpDeps, accountId: string): Promise<ReadonlyMap<string, string>> {
  const held = (await directory.keys(accountId)).flatMap(({ id, holderId }) =>
    holderId === null ? [] : [[id, holderId] as const],
  );
  if (held.length === 0) return new Map();
  const emails = await store.people.emails([...new Set(held.map(([, holderId]) => holderId))]);
  return new Map(
    held.flatMap(([id, holderId]) => (emails.has(holderId) ? [[id, emails.get(holderId)!] as const] : [])),
  );
}

async function ownKeys({ directory }: HttpDeps, request: FastifyRequest): Promise<ApiKey[]> {
  const { id } = accountOf(request);
  const holderId = holderOf(request);
  const standing = standingOf(request);
  const keys = await directory.keys(id);
  return keys.filter((key) => key.holderId === holderId && reaches(standing, key.projectId ?? defaultProjectId(id)));
}

/** Throws resource_not_found for a key that a developer does not hold, and role_required where they would give it away. */
async function checkReach(deps: HttpDeps, request: FastifyRequest, keyId: string): Promise<void> {
  if (managesKeys(request)) return;
  if (!(await ownKeys(deps, request)).some(({ id }) => id === keyId))
    throw gatewayError('resource_not_found', { what: 'key', id: keyId.slice(0, 100) });
  if (request.method === 'PATCH' && sentField(request, 'holder') !== undefined)
    checkRight(standingOf(request), 'keys.manage');
}

/** A developer reaches only their own projects. */
function checkOwnProject(request: FastifyRequest, accountId: string): void {
  const project = sentField(request, 'project') ?? defaultProjectId(accountId);
  if (!reaches(standingOf(request), String(project)))
    throw gatewayError('resource_not_found', { what: 'project', id: String(project).slice(0, 100) });
}

function withLabel<Key extends { prefix: string; last_four: string }>(key: Key): Key & { label: string } {
  return { ...key, label: keyLabel({ brought: key.prefix === '', lastFour: key.last_four }) };
}
