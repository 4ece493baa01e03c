/** A management key of an account. */
import type { Json, Reply, TestAccount } from '../../support/client.js';
import type { Bench } from '../harness.js';

export interface Manager extends TestAccount {
  managerId: string;
  managerKey: string;
  /** Calls a path under `/v1`. */
  call(method: string, path: string, body?: unknown): Promise<Reply>;
}

/** Of a new account, unless one is named. */
export async function managerOf(
  { gateway }: Pick<Bench, 'gateway'>,
  fields: Json = {},
  accountId?: string,
): Promise<Manager> {
  const account = accountId === undefined ? await gateway.createAccount() : { accountId, key: '', keyId: '' };
  const made = await gateway.admin('POST', `/accounts/${account.accountId}/keys`, {
    ...{ name: 'manager', kind: 'management', expires: 'never', ...fields },
  });
  if (made.status !== 201) throw new Error(made.text);
  const { token: key, id } = made.json;
  const call = (method: string, path: string, body?: unknown) => gateway.call(method, `/v1${path}`, body, { key });
  return { ...account, managerId: id, managerKey: key, call };
}
