/** Adds up a provider's usage export by day, model and class. Rows that cannot be read are named with their line. */
import { type PicoUsd, parseUsd } from '../../base/money.js';
import { CommandFailure } from '../io.js';
import type { Columns } from './columns.js';
import { readCsv } from './csv.js';
import { type Figures, Sums } from './sums.js';

export interface Invoice {
  readonly sums: Sums;
  /** The classes that it has counts for. */
  readonly classes: ReadonlySet<string>;
  /** Each is `line 12: what is wrong`. */
  readonly faults: readonly string[];
}

/** More are not worth reading. */
const faultsMax = 50;

export async function readInvoice(
  pieces: AsyncIterable<string>,
  columnsOf: (header: readonly string[]) => Columns,
): Promise<Invoice> {
  const sums = new Sums();
  const classes = new Set<string>();
  const faults: string[] = [];
  let reader: RowReader | undefined;
  for await (const { line, cells } of readCsv(pieces)) {
    if (!reader) {
      reader = new RowReader(cells, columnsOf(cells));
      continue;
    }
    const row = reader.read(cells);
    if ('fault' in row) {
      if (faults.length < faultsMax) faults.push(`line ${line}: ${row.fault}`);
      continue;
    }
    for (const [name, figures] of row.lines) {
      classes.add(name);
      sums.add({ day: row.day, model: row.model, name }, figures);
    }
  }
  if (!reader) throw new CommandFailure('The invoice is empty.');
  return { sums, classes, faults };
}

type Row = { day: string; model: string; lines: [string, Figures][] } | { fault: string };

class RowReader {
  constructor(
    private readonly header: readonly string[],
    private readonly columns: Columns,
  ) {
    const { day, model, cost, class: ofClass, count } = columns;
    for (const name of [day, model, cost, ofClass, count]) {
      if (name !== undefined && !header.includes(name))
        throw new CommandFailure(`The invoice has no column "${name}". It has: ${header.join(', ')}.`);
    }
  }

  read(cells: readonly string[]): Row {
    const { header, columns } = this;
    if (cells.length !== header.length)
      return { fault: `found ${cells.length} cells, expected ${header.length}, as in the first line` };
    try {
      const model = this.cell(cells, columns.model);
      if (model === '') throw new RowFault(`${columns.model}: found nothing, expected a model`);
      return { day: dayOf(columns.day, this.cell(cells, columns.day)), model, lines: this.linesOf(cells) };
    } catch (error) {
      if (error instanceof RowFault) return { fault: error.message };
      throw error;
    }
  }

  private linesOf(cells: readonly string[]): [string, Figures][] {
    const { columns } = this;
    const cost = columns.cost === undefined ? null : costOf(columns.cost, this.cell(cells, columns.cost));
    if (columns.class !== undefined) {
      const name = this.cell(cells, columns.class);
      return [[name, { count: countOf(columns.count!, this.cell(cells, columns.count!)), cost }]];
    }
    const lines: [string, Figures][] = [];
    for (const [name, column] of Object.entries(columns.counts)) {
      if (!this.header.includes(column)) continue;
      lines.push([name, { count: this.countWithout(cells, column, columns.less?.[name] ?? []), cost: null }]);
    }
    if (cost !== null) lines.push(['cost', { count: 0, cost }]);
    return lines;
  }

  private countWithout(cells: readonly string[], column: string, less: readonly string[]): number {
    const parts = less.filter((name) => this.header.includes(name));
    const count = parts.reduce(
      (rest, name) => rest - countOf(name, this.cell(cells, name)),
      countOf(column, this.cell(cells, column)),
    );
    if (count < 0) throw new RowFault(`${column}: is less than ${parts.join(' + ')}, which it includes`);
    return count;
  }

  private cell(cells: readonly string[], column: string): string {
    return (cells[this.header.indexOf(column)] ?? '').trim();
  }
}

class RowFault extends Error {}

function dayOf(column: string, text: string): string {
  const day = /^(\d{4}-\d\d-\d\d)(?:$|[T ])/.exec(text)?.[1];
  const ms = Date.parse(`${day}T00:00:00Z`);
  if (day === undefined || Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== day)
    throw new RowFault(`${column}: found "${text}", expected a date such as 2026-11-16`);
  return day;
}

/** Spreadsheets group digits. */
function countOf(column: string, text: string): number {
  const digits = text.replaceAll(',', '');
  if (digits === '') return 0;
  const count = Number(digits);
  if (!/^\d+(\.0+)?$/.test(digits) || !Number.isSafeInteger(count))
    throw new RowFault(`${column}: found "${text}", expected a count`);
  return count;
}

function costOf(column: string, text: string): PicoUsd {
  const pico = parseUsd(text.replace(/^\$/, '').replaceAll(',', '') || '0');
  if (pico === undefined) throw new RowFault(`${column}: found "${text}", expected USD such as 12.345`);
  return pico;
}
