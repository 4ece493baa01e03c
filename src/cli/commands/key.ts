/** `lodestone key …` */
import type { ListOf } from '../admin-client.js';
import { type Command, type CommandContext, required, text } from '../command.js';
import { fields, table } from '../text-table.js';

interface KeyRow {
  id: string;
  name: string;
  prefix: string;
  last_four: string;
  expires_at: string | null;
  state: string;
  created_at: string;
  kind: string;
  limit_usd: string | null;
  limit_reset: string;
  usage_usd: string;
  last_used_at: string | null;
  token?: string;
}

const account = { account: text };
/** The options that set a field of the key; `none` removes a restriction. */
const termOptions = {
  ...{ limit: text, reset: text, models: text, providers: text, ips: text, requests: text, tokens: text },
};
const termParameters =
  '[--limit USD|none] [--reset never|daily|weekly|monthly] [--models LIST|none] [--providers LIST|none] [--ips LIST|none] [--requests N|none] [--tokens N|none]';

export const keyCommands: readonly Command[] = [
  {
    name: 'key create',
    parameters: `[<name>] [--account ID_OR_EMAIL] [--expires 90d|12mo|never|TIME] [--kind inference|management] ${termParameters}`,
    summary: 'Create an API key and show its token once.',
    options: { ...account, name: text, expires: text, kind: text, ...termOptions },
    positionalsMax: 1,
    run: createKey,
  },
  {
    name: 'key update',
    parameters: `<key id> [--account ID_OR_EMAIL] [--name NAME] [--disabled yes|no] ${termParameters}`,
    summary: 'Change a key. The change holds for the next request.',
    options: { ...account, name: text, disabled: text, ...termOptions },
    positionalsMax: 1,
    run: updateKey,
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

async function createKey({ client, io, json, print, options, positionals }: CommandContext): Promise<void> {
  const { id } = await client().findAccount(options.account);
  const name = positionals[0] ?? options.name ?? 'cli';
  const key = await client().call<KeyRow>('POST', `/accounts/${id}/keys`, {
    name,
    ...(options.expires && { expires: options.expires }),
    ...(options.kind && { kind: options.kind }),
    ...termFields(options),
  });
  print(
    key,
    fields([
      ['token', key.token],
      ['id', key.id],
      ['name', key.name],
      ['expires', key.expires_at ?? 'never'],
    ]),
  );
  if (!json) io.err('The token is shown only this once. Keep it somewhere safe.');
}

async function updateKey({ client, print, options, positionals }: CommandContext): Promise<void> {
  const keyId = required(positionals[0], 'The key id');
  const { id } = await client().findAccount(options.account);
  const key = await client().call<KeyRow>('PATCH', `/accounts/${id}/keys/${encodeURIComponent(keyId)}`, {
    ...(options.name !== undefined && { name: options.name }),
    ...(options.disabled !== undefined && { disabled: yesOrNo(options.disabled) }),
    ...termFields(options),
  });
  print(
    key,
    fields([
      ['id', key.id],
      ['name', key.name],
      ['state', key.state],
      ['limit', limitText(key)],
    ]),
  );
}

/** The admin API says what is wrong with a value. */
function yesOrNo(value: string): boolean | string {
  return value === 'yes' ? true : value === 'no' ? false : value;
}

function termFields(options: CommandContext['options']): Record<string, unknown> {
  const { limit, reset, models, providers, ips, requests, tokens } = options;
  const given = {
    limit_usd: orNone(limit, (value) => value),
    limit_reset: reset,
    allowed_models: orNone(models, listOf),
    allowed_providers: orNone(providers, listOf),
    allowed_ips: orNone(ips, listOf),
    requests_per_minute: orNone(requests, numberOf),
    tokens_per_minute: orNone(tokens, numberOf),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function orNone<T>(value: string | undefined, read: (value: string) => T): T | null | undefined {
  return value === undefined ? undefined : value === 'none' ? null : read(value);
}

const listOf = (value: string) => value.split(',').map((entry) => entry.trim());
const numberOf = (value: string) => (/^\d+$/.test(value) ? Number(value) : value);

function limitText({ limit_usd: limit, limit_reset: reset }: KeyRow): string {
  if (limit === null) return 'none';
  return reset === 'never' ? `${limit} USD` : `${limit} USD ${reset}`;
}

async function listKeys({ client, print, options }: CommandContext): Promise<void> {
  const { id } = await client().findAccount(options.account);
  const list = await client().call<ListOf<KeyRow>>('GET', `/accounts/${id}/keys`);
  const rows = list.data.map((key) => [
    key.id,
    key.name,
    `${key.prefix}…${key.last_four}`,
    key.state,
    key.kind,
    key.usage_usd,
    limitText(key),
    key.last_used_at ?? 'never',
    key.expires_at ?? 'never',
  ]);
  print(list, table(['id', 'name', 'key', 'state', 'kind', 'spent', 'limit', 'last used', 'expires'], rows));
}

async function deleteKey({ client, io, json, options, positionals }: CommandContext): Promise<void> {
  const keyId = required(positionals[0], 'The key id');
  const { id } = await client().findAccount(options.account);
  await client().call('DELETE', `/accounts/${id}/keys/${encodeURIComponent(keyId)}`);
  if (!json) io.out(`Deleted key ${keyId}.`);
}
