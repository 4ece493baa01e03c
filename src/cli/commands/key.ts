/** `lodestone key …` */
import type { ListOf } from '../admin-client.js';
import { type Command, type CommandContext, required } from '../command.js';
import { fields, table } from '../text-table.js';

interface KeyRow {
  id: string;
  name: string;
  prefix: string;
  last_four: string;
  expires_at: string | null;
  state: string;
  created_at: string;
  token?: string;
}

const account = { account: { type: 'string' } } as const;

export const keyCommands: readonly Command[] = [
  {
    name: 'key create',
    parameters: '[<name>] [--account ID_OR_EMAIL] [--expires 90d|12mo|never|TIME]',
    summary: 'Create an API key and show its token once.',
    options: { ...account, name: { type: 'string' }, expires: { type: 'string' } },
    positionalsMax: 1,
    run: createKey,
  },
  {
    name: 'key list',
    parameters: '[--account ID_OR_EMAIL]',
    summary: 'List the keys of an account.',
    options: account,
    positionalsMax: 0,
    run: listKeys,
  },
  {
    name: 'key delete',
    parameters: '<key id> [--account ID_OR_EMAIL]',
    summary: 'Delete a key. It stops working with the next request.',
    options: account,
    positionalsMax: 1,
    run: deleteKey,
  },
];

async function createKey({ client, io, json, options, positionals }: CommandContext): Promise<void> {
  const { id } = await client().findAccount(options.account);
  const name = positionals[0] ?? options.name ?? 'cli';
  const key = await client().call<KeyRow>('POST', `/accounts/${id}/keys`, {
    name,
    ...(options.expires && { expires: options.expires }),
  });
  if (json) return io.out(JSON.stringify(key, null, 2));
  io.out(
    fields([
      ['token', key.token],
      ['id', key.id],
      ['name', key.name],
      ['expires', key.expires_at ?? 'never'],
    ]),
  );
  io.err('The token is shown only this once. Keep it somewhere safe.');
}

async function listKeys({ client, io, json, options }: CommandContext): Promise<void> {
  const { id } = await client().findAccount(options.account);
  const list = await client().call<ListOf<KeyRow>>('GET', `/accounts/${id}/keys`);
  if (json) return io.out(JSON.stringify(list, null, 2));
  const rows = list.data.map((key) => [
    key.id,
    key.name,
    `${key.prefix}…${key.last_four}`,
    key.state,
    key.expires_at ?? 'never',
  ]);
  io.out(table(['id', 'name', 'key', 'state', 'expires'], rows));
}

async function deleteKey({ client, io, json, options, positionals }: CommandContext): Promise<void> {
  const keyId = required(positionals[0], 'The key id');
  const { id } = await client().findAccount(options.account);
  await client().call('DELETE', `/accounts/${id}/keys/${encodeURIComponent(keyId)}`);
  if (!json) io.out(`Deleted key ${keyId}.`);
}
