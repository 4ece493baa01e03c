/** A project of an account with a key of its own, written into the store, as a gateway that starts finds them. */
import type { TestGateway } from '../../support/gateway.js';
import { query } from '../database.js';

export interface StoredBudget {
  readonly limitPico: string;
  readonly period: string;
  readonly alertAt: readonly number[];
}

export async function addProject(
  gateway: TestGateway,
  accountId: string,
  { name, budget = null }: { name: string; budget?: StoredBudget | null },
): Promise<{ id: string; token: string }> {
  const id = `proj-${accountId.slice(-20)}-${name}`;
  await query(
    gateway,
    'insert into lodestone.projects (id, account_id, name, budget, created_at) values ($1, $2, $3, $4, now())',
    [id, accountId, name, budget && JSON.stringify(budget)],
  );
  const { json: key } = await gateway.admin('POST', `/accounts/${accountId}/keys`, { name, expires: 'never' });
  await query(gateway, 'update lodestone.keys set project_id = $2 where id = $1', [key.id, id]);
  return { id, token: key.token };
}
