/** Pages of the keys of an account, oldest first. After a key that was deleted they go on where it was. */
import type { FastifyRequest } from 'fastify';
import type { ApiKey } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { KeyPlace } from '../../storage/store.js';
import type { HttpDeps } from '../deps.js';
import { type NumberParameter, pageLimit, queryNumber, queryText } from '../query.js';

export interface KeyPages {
  /** `pageLimit` where it is left out. */
  readonly limit?: NumberParameter;
  /** What the caller may see; every key where it is left out. */
  readonly isSeen?: ((key: ApiKey) => boolean) | undefined;
  /** Whether all keys are one page where neither `limit` nor `after` is sent: for lists that are older than their pages. */
  readonly isOld?: boolean;
}

export async function keyPage(
  deps: HttpDeps,
  request: FastifyRequest,
  accountId: string,
  { limit: rule = pageLimit, isSeen, isOld = false }: KeyPages,
): Promise<ApiKey[]> {
  const sent = request.query as { limit?: unknown; after?: unknown };
  const all = isOld && sent.limit === undefined && sent.after === undefined;
  const limit = all ? undefined : queryNumber(request, rule);
  const after = await placeAsked(deps, request, accountId, isSeen);
  if (!isSeen) return deps.directory.keys(accountId, { limit, after });
  return (await deps.directory.keys(accountId, { after })).filter(isSeen).slice(0, limit);
}

/** The place of the key that `after` names. Its deletion is in the audit log, with the time at which it was made. */
async function placeAsked(
  { store }: HttpDeps,
  request: FastifyRequest,
  accountId: string,
  isSeen: KeyPages['isSeen'] = () => true,
): Promise<KeyPlace | undefined> {
  const id = queryText(request, 'after');
  if (id === undefined) return undefined;
  const { key } = (await store.keys.findWithAccount(id)) ?? {};
  if (key?.accountId === accountId && isSeen(key)) return key;
  const [deletion] = await store.audit.list(1, { accountId, action: 'key.delete', subjects: [id] });
  const { created_at: createdAt } = (deletion?.details ?? {}) as { created_at?: string };
  if (createdAt !== undefined) return { id, createdAt: Date.parse(createdAt) };
  throw gatewayError('field_invalid', {
    param: 'after',
    reason: `is "${id.slice(0, 100)}", but there is no key with this id`,
  });
}
