/** `lodestone credential …` and `lodestone secrets rotate` */
import type { ListOf } from '../admin-client.js';
import { type Command, type CommandContext, required, text } from '../command.js';
import { type Io, readNamed, UsageError } from '../io.js';
import { fields, table } from '../text-table.js';
import { throughServer } from './storage.js';

interface Credential {
  id: string;
  provider: string;
  name: string;
  project: string | null;
  use: string;
  models: string[] | null;
  fingerprint: string;
  state: { status: string; reason: string | null; since: string };
  last_used_at: string | null;
}

interface Checked extends Credential {
  check: { verdict: string; route: string | null; said: string | null; advice: string };
}

interface Rotation {
  key: string;
  wrapped: number;
  failed: readonly string[];
}

const account = { account: text };
const changing = { name: text, use: text, models: text, 'secret-file': text };
const changeParameters = '[--use only|first|last] [--models LIST|all]';

export const credentialCommands: readonly Command[] = [
  {
    name: 'credential create',
    parameters: `<provider> --name NAME --secret-file FILE|- [--account ID_OR_EMAIL] [--project ID] ${changeParameters}`,
    summary:
      'Store a credential of an account at a provider. The file has the key, or a JSON object such as {"api_key": "…"}.',
    options: { ...account, ...changing, project: text },
    positionalsMax: 1,
    run: createCredential,
  },
  {
    name: 'credential update',
    parameters: `<credential id> [--account ID_OR_EMAIL] [--name NAME] [--secret-file FILE|-] ${changeParameters}`,
    summary: 'Change a credential, or replace its secret. The change holds for the next request.',
    options: { ...account, ...changing },
    positionalsMax: 1,
    run: updateCredential,
  },
  {
    name: 'credential list',
    parameters: '[--account ID_OR_EMAIL]',
    summary: 'List the credentials of an account.',
    options: account,
    positionalsMax: 0,
    run: listCredentials,
  },
  {
    name: 'credential check',
    parameters: '<credential id> [--account ID_OR_EMAIL]',
    summary: 'Make one cheap call with a credential. Exit code 1 where it does not serve.',
    options: account,
    positionalsMax: 1,
    run: checkCredential,
  },
  {
    name: 'credential delete',
    parameters: '<credential id> [--account ID_OR_EMAIL]',
    summary: 'Delete a credential. It is not used any more from the next request on.',
    options: account,
    positionalsMax: 1,
    run: deleteCredential,
  },
  {
    name: 'secrets rotate',
    parameters: '',
    summary: 'Replace the key that stored credentials are sealed with, also while the gateway runs. May be run again.',
    positionalsMax: 0,
    run: rotate,
  },
];

async function createCredential({ client, io, print, options, positionals }: CommandContext): Promise<void> {
  const provider = required(positionals[0], 'The provider');
  const name = required(options.name, 'The name (--name)');
  const file = required(options['secret-file'], 'The file with the secret (--secret-file)');
  const secret = secretIn(file, io);
  const { id } = await client().findAccount(options.account);
  const made = await client().call<Credential>('POST', `/accounts/${id}/credentials`, {
    ...{ provider, secret, name, project: options.project ?? null },
    ...changeIn(options),
  });
  print(made, shown(made));
}

async function updateCredential({ client, io, print, options, positionals }: CommandContext): Promise<void> {
  const { id } = await client().findAccount(options.account);
  const change = {
    ...(options.name !== undefined && { name: options.name }),
    ...(options['secret-file'] !== undefined && { secret: secretIn(options['secret-file'], io) }),
    ...changeIn(options),
  };
  const changed = await client().call<Credential>('PATCH', pathOf(id, positionals[0]), change);
  print(changed, shown(changed));
}

async function listCredentials({ client, print, options }: CommandContext): Promise<void> {
  const { id } = await client().findAccount(options.account);
  const list = await client().call<ListOf<Credential>>('GET', `/accounts/${id}/credentials`);
  const rows = list.data.map((each) => [
    ...[each.id, each.provider, each.name, each.project ?? 'account', each.use],
    ...[each.models?.join(',') ?? 'all', each.state.status, each.last_used_at ?? 'never'],
  ]);
  print(list, table(['id', 'provider', 'name', 'of', 'use', 'models', 'state', 'last used'], rows));
}

async function checkCredential(context: CommandContext): Promise<void> {
  const { client, io, json, options, positionals, markFailed } = context;
  const { id } = await client().findAccount(options.account);
  const checked = await client().call<Checked>('POST', `${pathOf(id, positionals[0])}/check`);
  const { verdict, route, said, advice } = checked.check;
  if (verdict !== 'ok') markFailed();
  if (json) return io.out(JSON.stringify(checked, null, 2));
  io.out(`${checked.name}: ${verdict.replaceAll('_', ' ')}${route === null ? '' : ` on ${route}`}`);
  if (said !== null) io.out(`It said: ${said}`);
  if (advice !== '') io.out(advice);
}

async function deleteCredential({ client, print, options, positionals }: CommandContext): Promise<void> {
  const { id } = await client().findAccount(options.account);
  await client().call('DELETE', pathOf(id, positionals[0]));
  print({ deleted: positionals[0] }, `${positionals[0]} is deleted.`);
}

async function rotate(context: CommandContext): Promise<void> {
  const { io, json, markFailed } = context;
  const answer = await throughServer<Rotation>(context, {
    call: (client) => client.call('POST', '/secrets/rotate'),
    alone: ({ rotateSecrets }) => rotateSecrets(),
  });
  if (answer.failed.length > 0) markFailed();
  if (json) return io.out(JSON.stringify(answer, null, 2));
  io.out(`${answer.wrapped} credentials are sealed with the new key ${answer.key}.`);
  if (answer.failed.length > 0) {
    io.out(`No key opens these, so the old keys are kept: ${answer.failed.join(', ')}.`);
  }
}

function pathOf(accountId: string, id: string | undefined): string {
  return `/accounts/${accountId}/credentials/${encodeURIComponent(required(id, 'The id of the credential'))}`;
}

function changeIn({ use, models }: CommandContext['options']) {
  return {
    ...(use !== undefined && { use }),
    ...(models !== undefined && { models: models === 'all' ? null : models.split(',') }),
  };
}

/** Never an argument: those stand in the list of processes and in the history of the shell. */
function secretIn(file: string, io: Io): unknown {
  const content = (file === '-' ? (io.stdin?.() ?? '') : readNamed(file, io).toString('utf8')).trim();
  if (!content.startsWith('{')) return { api_key: content };
  try {
    return JSON.parse(content);
  } catch {
    throw new UsageError(`${file} begins as a JSON object and is none.`);
  }
}

function shown(credential: Credential): string {
  const { id, provider, name, project, use, models, fingerprint, state } = credential;
  return fields([
    ['id', id],
    ['provider', provider],
    ['name', name],
    ['of', project ?? 'account'],
    ['use', use],
    ['models', models?.join(', ') ?? 'all'],
    ['fingerprint', fingerprint],
    ['state', state.status],
  ]);
}
