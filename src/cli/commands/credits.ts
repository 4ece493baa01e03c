/** `lodestone credits …` */
import type { ListOf } from '../admin-client.js';
import { type Command, type CommandContext, required, text } from '../command.js';
import { table } from '../text-table.js';

interface LedgerRow {
  id: string;
  created_at: string;
  kind: string;
  amount_usd: string;
  balance_usd: string;
  generation_id: string | null;
  note: string | null;
}

export const creditsCommands: readonly Command[] = [
  {
    name: 'credits add',
    parameters: '<amount in USD> [--account ID_OR_EMAIL] [--note TEXT]',
    summary: 'Add credit. --amount=-2.50 removes credit.',
    options: { account: text, amount: text, note: text },
    positionalsMax: 1,
    run: addCredits,
  },
  {
    name: 'credits show',
    parameters: '[--account ID_OR_EMAIL] [--limit N]',
    summary: 'Show the balance and the latest ledger entries.',
    options: { account: text, limit: { type: 'string', default: '20' } },
    positionalsMax: 0,
    run: showCredits,
  },
];

async function addCredits({ client, print, options, positionals }: CommandContext): Promise<void> {
  const amount = required(positionals[0] ?? options.amount, 'The amount');
  const { id, email } = await client().findAccount(options.account);
  const entry = await client().call<LedgerRow>('POST', `/accounts/${id}/credits`, {
    amount_usd: amount,
    ...(options.note && { note: options.note }),
  });
  print(entry, `Posted ${entry.amount_usd} USD to ${email}; the balance is ${entry.balance_usd} USD.`);
}

async function showCredits({ client, io, json, options }: CommandContext): Promise<void> {
  const { id, email, balance_usd } = await client().findAccount(options.account);
  const query = `?limit=${encodeURIComponent(options.limit ?? '20')}`;
  const ledger = await client().call<ListOf<LedgerRow>>('GET', `/accounts/${id}/ledger${query}`);
  if (json) return io.out(JSON.stringify(ledger, null, 2));
  io.out(`Balance of ${email}: ${balance_usd} USD`);
  const rows = ledger.data.map((row) => [
    row.created_at,
    row.kind,
    row.amount_usd,
    row.balance_usd,
    row.generation_id,
    row.note,
  ]);
  if (rows.length > 0) io.out(table(['time', 'kind', 'amount', 'balance', 'generation', 'note'], rows));
}
