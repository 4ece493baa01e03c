/** `lodestone export …`: records as files or on standard output. */
import { createWriteStream, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { instantMs } from '../../base/time.js';
import { type Command, type CommandContext, text } from '../command.js';
import { UsageError } from '../io.js';
import { throughServer } from './storage.js';

const formats = ['ndjson', 'csv', 'parquet'] as const;
const kinds = ['generations', 'ledger', 'audit'] as const;
const parameters =
  '[--since TIME] [--until TIME] [--account ID] [--after ID] [--format ndjson|csv|parquet] [--out DIR|-]';

const ofGenerations = '[--project ID] [--holder ID] [--end-user TEXT]';

export const exportCommands: readonly Command[] = kinds.map((kind) => ({
  name: `export ${kind}`,
  parameters: kind === 'generations' ? `${ofGenerations} ${parameters}` : parameters,
  summary: `Export the ${kind === 'audit' ? 'audit log' : kind}. --after goes on behind the line with this id.`,
  options: {
    ...{ since: text, until: text, account: text, after: text, format: text, out: text },
    ...(kind === 'generations' && { project: text, holder: text, 'end-user': text }),
  },
  positionalsMax: 0,
  run: (context) => exportRecords(context, kind),
}));

async function exportRecords(context: CommandContext, kind: (typeof kinds)[number]): Promise<void> {
  const { options, io } = context;
  const { since, until, account, after, out = '-' } = options;
  const format = formats.find((candidate) => candidate === (options.format ?? 'ndjson'));
  if (!format) throw new UsageError(`--format is "${options.format}", but must be one of ${formats.join(', ')}.`);
  if (after !== undefined && format === 'parquet' && out !== '-') {
    // Two Parquet files one behind the other are none.
    throw new UsageError(
      '--after adds to a file, and a Parquet file cannot be added to. Use --since with another --out.',
    );
  }
  const query = new URLSearchParams({ format });
  const { project, holder, 'end-user': end_user } = options;
  const only = Object.fromEntries(Object.entries({ project, holder, end_user }).filter(([, value]) => value));
  for (const [name, value] of Object.entries({ since, until, account, after, ...only }))
    if (value) query.set(name, value);
  const filters = {
    ...(account !== undefined && { accountId: account }),
    ...(since !== undefined && { fromMs: momentOf('since', since) }),
    ...(until !== undefined && { toMs: momentOf('until', until) }),
    ...(after !== undefined && { after }),
    only,
  };
  if ((filters.fromMs ?? 0) > (filters.toMs ?? Number.POSITIVE_INFINITY))
    throw new UsageError('--since must not be later than --until.');
  await throughServer(context, {
    call: async (client) => write(await client.stream(`/export/${kind}?${query}`)),
    alone: async ({ records }) => write(await records.export({ kind, format, ...filters })),
  });

  async function write(lines: Readable): Promise<void> {
    if (out === '-') return pipeline(lines, process.stdout, { end: false });
    const folder = resolve(io.cwd, out);
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${kind}.${format}`);
    await pipeline(lines, createWriteStream(file, { mode: 0o600, flags: after === undefined ? 'w' : 'a' }));
    io.err(`Written to ${file}.`);
  }
}

function momentOf(name: string, value: string): number {
  const ms = instantMs(value);
  if (ms !== undefined) return ms;
  throw new UsageError(`--${name} is "${value}", but must be an RFC 3339 time or a date.`);
}
