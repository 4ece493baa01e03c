/** `lodestone account …` */
import type { AccountRow } from '../admin-client.js';
import { type Command, type CommandContext, flag, required, text } from '../command.js';
import { readSecret, secretOptions } from '../secrets.js';
import { fields, table } from '../text-table.js';

const passwordVariable = 'LODESTONE_PASSWORD';
const passwordSources = `The password may also be in ${passwordVariable}.`;

/** The account may also be given as an option. */
const named = { account: text };

export const accountCommands: readonly Command[] = [
  {
    name: 'account create',
    parameters: '<email> [--name NAME] [--password-stdin | --password-file FILE] [--billing-country CODE]',
    summary: `Create an account. ${passwordSources}`,
    options: {
      email: text,
      name: text,
      ...secretOptions('password'),
      'billing-country': text,
    },
    positionalsMax: 1,
    run: createAccount,
  },
  { name: 'account list', parameters: '', summary: 'List the accounts.', positionalsMax: 0, run: listAccounts },
  {
    name: 'account show',
    parameters: '[<id or email>]',
    summary: 'Show one account.',
    options: named,
    positionalsMax: 1,
    run: async (context) => show(context, await context.client().findAccount(namedIn(context))),
  },
  {
    name: 'account suspend',
    parameters: '<id or email>',
    summary: 'Refuse all requests of an account (403).',
    options: named,
    positionalsMax: 1,
    run: (context) => change(context, { status: 'suspended' }),
  },
  {
    name: 'account activate',
    parameters: '<id or email>',
    summary: 'Lift a suspension.',
    options: named,
    positionalsMax: 1,
    run: (context) => change(context, { status: 'active' }),
  },
  {
    name: 'account password',
    parameters: '<id or email> --password-stdin | --password-file FILE',
    summary: `Set the password for the dashboard; every session of the account ends. ${passwordSources}`,
    options: { ...named, ...secretOptions('password') },
    positionalsMax: 1,
    run: setPassword,
  },
  {
    name: 'account reset-password',
    parameters: '<id or email>',
    summary: 'Print a link with which the owner of an account chooses a new password. It works once, within 24 hours.',
    options: named,
    positionalsMax: 1,
    run: makeResetLink,
  },
  {
    name: 'account reset-two-factor',
    parameters: '<id or email>',
    summary: 'Turn off two-factor sign-in for a lost device; every session of the account ends.',
    options: named,
    positionalsMax: 1,
    run: resetTwoFactor,
  },
  {
    name: 'account operator',
    parameters: '<id or email> [--revoke]',
    summary: 'Let an account use the operators\u2019 pages of the dashboard.',
    options: { ...named, revoke: flag },
    positionalsMax: 1,
    run: (context) => change(context, { operator: !context.flags.has('revoke') }),
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
  show(context, account);
}

async function listAccounts({ client, print }: CommandContext): Promise<void> {
  const list = await client().accounts();
  const rows = list.data.map((row) => [row.id, row.email, row.name, row.status, row.balance_usd, row.created_at]);
  print(list, table(['id', 'email', 'name', 'status', 'balance (USD)', 'created'], rows));
}

const namedIn = ({ positionals, options }: CommandContext) => positionals[0] ?? options.account;

/** The account must be named, even where there is only one. */
function findNamed(context: CommandContext): Promise<AccountRow> {
  return context.client().findAccount(required(namedIn(context), 'The account (id or email address)'));
}

async function change(context: CommandContext, fields: { status: string } | { operator: boolean }): Promise<void> {
  const { id } = await findNamed(context);
  show(context, await context.client().call<AccountRow>('PATCH', `/accounts/${id}`, fields));
}

async function setPassword(context: CommandContext): Promise<void> {
  required(namedIn(context), 'The account (id or email address)');
  const { value: password } = readSecret('password', passwordVariable, context) ?? {};
  required(password, 'The password (--password-stdin or --password-file)');
  const { id, email } = await findNamed(context);
  await context.client().call('PUT', `/accounts/${id}/password`, { password });
  if (!context.json) context.io.out(`The password of ${email} was set.`);
}

async function makeResetLink(context: CommandContext): Promise<void> {
  const { id, email } = await findNamed(context);
  const link = await context.client().call<ResetLink>('POST', `/accounts/${id}/password-reset`);
  context.print(
    link,
    `Give this link to the owner of ${email} only. It works once, until ${link.expires_at}:\n\n  ${link.url}`,
  );
}

interface ResetLink {
  url: string;
  expires_at: string;
}

async function resetTwoFactor(context: CommandContext): Promise<void> {
  const { id, email, two_factor: wasOn } = await findNamed(context);
  const account = await context.client().call<AccountRow>('DELETE', `/accounts/${id}/two-factor`);
  context.print(
    account,
    wasOn
      ? `Two-factor sign-in of ${email} is off, and its sessions have ended. The owner signs in with the password alone.`
      : `Two-factor sign-in of ${email} was off already.`,
  );
}

function show({ print }: CommandContext, account: AccountRow): void {
  print(
    account,
    fields([
      ['id', account.id],
      ['email', account.email],
      ['name', account.name],
      ['status', account.status],
      ['operator', account.operator ? 'yes' : 'no'],
      ['two-factor', account.two_factor ? 'on' : 'off'],
      ['billing country', account.billing_country],
      ['balance (USD)', account.balance_usd],
      ['created', account.created_at],
    ]),
  );
}
