/** `lodestone account …` */
import type { AccountRow } from '../admin-client.js';
import { type Command, type CommandContext, required } from '../command.js';
import { readSecret, secretOptions } from '../secrets.js';
import { fields, table } from '../text-table.js';

const passwordVariable = 'LODESTONE_PASSWORD';
const passwordSources = `The password may also be in ${passwordVariable}.`;

export const accountCommands: readonly Command[] = [
  {
    name: 'account create',
    parameters: '<email> [--name NAME] [--password-stdin | --password-file FILE] [--billing-country CODE]',
    summary: `Create an account. ${passwordSources}`,
    options: {
      email: { type: 'string' },
      name: { type: 'string' },
      ...secretOptions('password'),
      'billing-country': { type: 'string' },
    },
    positionalsMax: 1,
    run: createAccount,
  },
  { name: 'account list', parameters: '', summary: 'List the accounts.', positionalsMax: 0, run: listAccounts },
  {
    name: 'account show',
    parameters: '[<id or email>]',
    summary: 'Show one account.',
    options: { account: { type: 'string' } },
    positionalsMax: 1,
    run: async (context) => print(context, await findAccount(context)),
  },
  {
    name: 'account suspend',
    parameters: '<id or email>',
    summary: 'Refuse all requests of an account (403).',
    options: { account: { type: 'string' } },
    positionalsMax: 1,
    run: (context) => setStatus(context, 'suspended'),
  },
  {
    name: 'account activate',
    parameters: '<id or email>',
    summary: 'Lift a suspension.',
    options: { account: { type: 'string' } },
    positionalsMax: 1,
    run: (context) => setStatus(context, 'active'),
  },
  {
    name: 'account password',
    parameters: '<id or email> --password-stdin | --password-file FILE',
    summary: `Set the password for the dashboard; every session of the account ends. ${passwordSources}`,
    options: { account: { type: 'string' }, ...secretOptions('password') },
    positionalsMax: 1,
    run: setPassword,
  },
  {
    name: 'account reset-password',
    parameters: '<id or email>',
    summary: 'Print a link with which the owner of an account chooses a new password. It works once, within 24 hours.',
    options: { account: { type: 'string' } },
    positionalsMax: 1,
    run: makeResetLink,
  },
  {
    name: 'account reset-two-factor',
    parameters: '<id or email>',
    summary: 'Turn off two-factor sign-in for a lost device; every session of the account ends.',
    options: { account: { type: 'string' } },
    positionalsMax: 1,
    run: resetTwoFactor,
  },
  {
    name: 'account operator',
    parameters: '<id or email> [--revoke]',
    summary: 'Let an account use the operators\u2019 pages of the dashboard.',
    options: { account: { type: 'string' }, revoke: { type: 'boolean' } },
    positionalsMax: 1,
    run: setOperator,
  },
];

async function createAccount(context: CommandContext): Promise<void> {
  const { options, positionals } = context;
  const password = readSecret('password', passwordVariable, context);
  const account = await context.client().call<AccountRow>('POST', '/accounts', {
    email: required(positionals[0] ?? options.email, 'The email address'),
    ...(options.name && { name: options.name }),
    ...(password && { password: password.value }),
    ...(options['billing-country'] && { billing_country: options['billing-country'] }),
  });
  print(context, account);
}

async function listAccounts({ client, io, json }: CommandContext): Promise<void> {
  const list = await client().accounts();
  if (json) return io.out(JSON.stringify(list, null, 2));
  const rows = list.data.map((row) => [row.id, row.email, row.name, row.status, row.balance_usd, row.created_at]);
  io.out(table(['id', 'email', 'name', 'status', 'balance (USD)', 'created'], rows));
}

function findAccount(context: CommandContext): Promise<AccountRow> {
  return context.client().findAccount(context.positionals[0] ?? context.options.account);
}

/** The account must be named, even where there is only one. */
async function setStatus(context: CommandContext, status: 'active' | 'suspended'): Promise<void> {
  required(context.positionals[0] ?? context.options.account, 'The account (id or email address)');
  const { id } = await findAccount(context);
  print(context, await context.client().call<AccountRow>('PATCH', `/accounts/${id}`, { status }));
}

async function setPassword(context: CommandContext): Promise<void> {
  required(context.positionals[0] ?? context.options.account, 'The account (id or email address)');
  const { value: password } = readSecret('password', passwordVariable, context) ?? {};
  required(password, 'The password (--password-stdin or --password-file)');
  const { id, email } = await findAccount(context);
  await context.client().call('PUT', `/accounts/${id}/password`, { password });
  if (!context.json) context.io.out(`The password of ${email} was set.`);
}

async function makeResetLink(context: CommandContext): Promise<void> {
  required(context.positionals[0] ?? context.options.account, 'The account (id or email address)');
  const { id, email } = await findAccount(context);
  const link = await context.client().call<ResetLink>('POST', `/accounts/${id}/password-reset`);
  const { io, json } = context;
  if (json) return io.out(JSON.stringify(link, null, 2));
  io.out(`Give this link to the owner of ${email} only. It works once, until ${link.expires_at}:\n\n  ${link.url}`);
}

interface ResetLink {
  url: string;
  expires_at: string;
}

async function resetTwoFactor(context: CommandContext): Promise<void> {
  required(context.positionals[0] ?? context.options.account, 'The account (id or email address)');
  const { id, email, two_factor: wasOn } = await findAccount(context);
  const account = await context.client().call<AccountRow>('DELETE', `/accounts/${id}/two-factor`);
  const { io, json } = context;
  if (json) return io.out(JSON.stringify(account, null, 2));
  io.out(
    wasOn
      ? `Two-factor sign-in of ${email} is off, and its sessions have ended. The owner signs in with the password alone.`
      : `Two-factor sign-in of ${email} was off already.`,
  );
}

async function setOperator(context: CommandContext): Promise<void> {
  required(context.positionals[0] ?? context.options.account, 'The account (id or email address)');
  const { id } = await findAccount(context);
  const operator = !context.flags.has('revoke');
  print(context, await context.client().call<AccountRow>('PATCH', `/accounts/${id}`, { operator }));
}

function print({ io, json }: CommandContext, account: AccountRow): void {
  io.out(json ? JSON.stringify(account, null, 2) : fields(shownFields(account)));
}

function shownFields(account: AccountRow): [string, unknown][] {
  return [
    ['id', account.id],
    ['email', account.email],
    ['name', account.name],
    ['status', account.status],
    ['operator', account.operator ? 'yes' : 'no'],
    ['two-factor', account.two_factor ? 'on' : 'off'],
    ['billing country', account.billing_country],
    ['balance (USD)', account.balance_usd],
    ['created', account.created_at],
  ];
}
