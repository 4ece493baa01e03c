/** `lodestone reconcile`: what was recorded beside what a provider billed. */
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { parseUsd, usdText } from '../../base/money.js';
import type { ListOf } from '../admin-client.js';
import { type Command, type CommandContext, flag, required, text } from '../command.js';
import { CommandFailure, UsageError } from '../io.js';
import { type Columns, detectPreset, presets, readColumns } from '../reconcile/columns.js';
import { compare, type Difference, type RecordedLine } from '../reconcile/compare.js';
import { type Invoice, readInvoice } from '../reconcile/invoice.js';
import { table } from '../text-table.js';

export const reconcileCommands: readonly Command[] = [
  {
    name: 'reconcile',
    parameters: `--provider ID --invoice FILE [--preset ${Object.keys(presets).join('|')} | --columns FIELD=COLUMN,…] [--credential own|ID] [--tolerance PERCENT] [--all]`,
    summary:
      'Compare a provider’s usage export (CSV) with what was recorded, by day, model and class: with the operator’s credentials, or with `--credential` with those of customers. Shows what differs, with --all everything. Exit code 1 where something differs by more than the tolerance (0), or a row cannot be read.',
    options: {
      ...{ provider: text, invoice: text, preset: text, columns: text, tolerance: text, credential: text },
      all: flag,
    },
    positionalsMax: 0,
    run: reconcile,
  },
];

/** As the admin API gives it. */
interface BilledLine {
  day: string;
  model: string;
  name: string;
  count: number;
  cost_usd: string;
}

async function reconcile(context: CommandContext): Promise<void> {
  const { client, io, json, options, flags, markFailed } = context;
  const provider = required(options.provider, '--provider');
  const file = required(options.invoice, '--invoice');
  const tolerance = toleranceOf(options.tolerance ?? '0');
  const invoice = await read(resolve(io.cwd, file), (header) => columnsFor(options, header));
  const recorded: RecordedLine[] = [];
  // A day at a time, so that no answer grows with the length of the invoice.
  for (const day of daysOf(invoice)) {
    const query = new URLSearchParams({ provider, day, ...(options.credential && { credential: options.credential }) });
    const { data } = await client().call<ListOf<BilledLine>>('GET', `/billed-lines?${query}`);
    recorded.push(...data.map(({ cost_usd, ...line }) => ({ ...line, cost: parseUsd(cost_usd) ?? 0n })));
  }
  const compared = compare(recorded, invoice, tolerance);
  const differing = compared.filter(({ differs }) => differs);
  if (json) io.out(JSON.stringify({ object: 'list', data: compared.map(jsonOf), faults: invoice.faults }, null, 2));
  else io.out(textOf(flags.has('all') ? compared : differing, compared.length, differing.length));
  for (const fault of invoice.faults) io.err(`${file}: ${fault}`);
  if (differing.length > 0 || invoice.faults.length > 0) markFailed();
}

function toleranceOf(percent: string): number {
  if (!/^\d+(\.\d+)?$/.test(percent) || Number(percent) > 100)
    throw new UsageError(`--tolerance: "${percent}" is not a percentage from 0 to 100`);
  return Number(percent) / 100;
}

function columnsFor({ preset, columns }: CommandContext['options'], header: readonly string[]): Columns {
  if (preset !== undefined && columns !== undefined) throw new UsageError('--preset and --columns exclude one another');
  if (columns !== undefined) return readColumns(columns);
  const found = preset === undefined ? detectPreset(header) : presets[preset];
  if (found) return found;
  const known = Object.keys(presets).join(', ');
  if (preset !== undefined) throw new UsageError(`There is no preset "${preset}"; there are ${known}.`);
  throw new UsageError(`The columns are those of no preset (${known}); name them with --columns.`);
}

async function read(file: string, columnsOf: (header: readonly string[]) => Columns): Promise<Invoice> {
  try {
    return await readInvoice(createReadStream(file, 'utf8'), columnsOf);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new CommandFailure(`${file} cannot be read: ${message}`);
  }
}

const daysOf = ({ sums }: Invoice): string[] => [...new Set(sums.places.map(({ day }) => day))].sort();

function jsonOf({ day, model, name, recorded, billed, differs }: Difference) {
  const figures = ({ count, cost }: Difference['billed']) => ({
    count,
    cost_usd: cost === null ? null : usdText(cost),
  });
  return { day, model, class: name, recorded: figures(recorded), billed: figures(billed), differs };
}

function textOf(shown: readonly Difference[], compared: number, differing: number): string {
  const summary = `${compared} figures compared, ${differing} ${differing === 1 ? 'differs' : 'differ'}.`;
  if (shown.length === 0) return summary;
  const rows = shown.map(({ day, model, name, recorded, billed, differs }) => [
    ...[day, model, name, recorded.count, billed.count, recorded.count - billed.count],
    ...[
      costText(recorded.cost),
      costText(billed.cost),
      billed.cost === null ? '' : costText((recorded.cost ?? 0n) - billed.cost),
    ],
    differs ? 'differs' : '',
  ]);
  const heads = [
    'day',
    'model',
    'class',
    'recorded',
    'billed',
    'difference',
    'recorded usd',
    'billed usd',
    'difference usd',
    '',
  ];
  return `${table(heads, rows)}\n\n${summary}`;
}

const costText = (cost: bigint | null): string => (cost === null ? '' : usdText(cost));
