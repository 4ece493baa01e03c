/** `lodestone storage …`: through the gateway where one runs, else on the store itself. */
import { createInterface } from 'node:readline/promises';
import { NoServer } from '../admin-client.js';
import { type Command, type CommandContext, required } from '../command.js';
import { readConfig } from '../connection.js';
import { CommandFailure, type Io, UsageError } from '../io.js';
import { table } from '../text-table.js';

/** A check reads every row. */
const longMs = 30 * 60_000;

interface CheckAnswer {
  ok: boolean;
  accounts: number;
  generations: number;
  faults: { what: string; where: string; expected: string; found: string }[];
}

interface PruneAnswer {
  dry_run: boolean;
  retention: string | null;
  months: { month: string; accounts: number; requests: number }[];
}

export const storageCommands: readonly Command[] = [
  {
    name: 'storage check',
    parameters: '',
    summary: 'Check that ledger, balances, rollups and generations agree. Exit code 1 where they do not.',
    positionalsMax: 0,
    run: checkStorage,
  },
  {
    name: 'storage prune',
    parameters: '[--dry-run] [--yes]',
    summary: 'Remove generations that are older than storage.retention.generations. --dry-run only says what would go.',
    options: { 'dry-run': { type: 'boolean' }, yes: { type: 'boolean' } },
    positionalsMax: 0,
    run: pruneStorage,
  },
  {
    name: 'storage move',
    parameters: '--to postgres://…',
    summary: 'Copy the store of the configuration to another PostgreSQL, and compare both. Stop the gateway first.',
    options: { to: { type: 'string' } },
    positionalsMax: 0,
    run: moveStorage,
  },
];

async function checkStorage(context: CommandContext): Promise<void> {
  const { io, json, markFailed } = context;
  const answer = await throughServer(context, {
    call: (client) => client.call<CheckAnswer>('GET', '/storage/check', undefined, longMs),
    alone: async ({ records }) => {
      const { accounts, generations, faults } = await records.check();
      return { ok: faults.length === 0, accounts, generations, faults };
    },
  });
  if (!answer.ok) markFailed();
  if (json) return io.out(JSON.stringify(answer, null, 2));
  const { accounts, generations, faults } = answer;
  if (answer.ok) return io.out(`Everything agrees: ${accounts} accounts, ${generations} generations.`);
  const rows = faults.map(({ what, where, expected, found }) => [what, where, expected, found]);
  io.out(table(['what', 'where', 'expected', 'found'], rows));
}

async function pruneStorage(context: CommandContext): Promise<void> {
  const { flags, io, json } = context;
  if (!flags.has('dry-run') && !flags.has('yes') && process.stdin.isTTY) {
    const planned = await prune(context, true);
    print(io.out, planned);
    if (planned.months.length === 0 || !(await confirmed())) return;
  }
  const answer = await prune(context, flags.has('dry-run'));
  if (json) return io.out(JSON.stringify(answer, null, 2));
  print(io.out, answer);
}

/** Only without a gateway, which would go on writing to the store that is left. */
async function moveStorage({ io, json, options }: CommandContext): Promise<void> {
  const to = required(options.to, 'The target (--to postgres://…)');
  if (!/^postgres(ql)?:\/\/\S+$/i.test(to))
    throw new UsageError('--to must be a postgres:// or postgresql:// address.');
  const moved = await onStore(options.config, io, ({ records }) => records.moveTo(to), 'Stop it before the move.');
  if (json) return io.out(JSON.stringify(moved, null, 2));
  io.out(
    table(
      ['table', 'rows'],
      moved.map(({ table: name, rows }) => [name, String(rows)]),
    ),
  );
  io.out('Both sides agree. Set storage.database_url to the new address, and start the gateway.');
}

function prune(context: CommandContext, dryRun: boolean): Promise<PruneAnswer> {
  return throughServer(context, {
    call: (client) => client.call<PruneAnswer>('POST', '/storage/prune', { dry_run: dryRun }, longMs),
    alone: async ({ records, retention }) => {
      const months = retention === null ? [] : await records.prunable(retention.cutOff(Date.now()));
      if (!dryRun) for (const month of months) await records.prune(month);
      return {
        dry_run: dryRun,
        retention: retention?.text ?? null,
        months: months.map(({ monthMs, ...rest }) => ({ month: new Date(monthMs).toISOString().slice(0, 7), ...rest })),
      };
    },
  });
}

async function confirmed(): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question('Remove these generations? [y/N] ');
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

const nothingToPrune = 'Everything is kept: storage.retention.generations is not set.';

function print(out: (line: string) => void, { dry_run, retention, months }: PruneAnswer): void {
  if (retention === null || months.length === 0) {
    out(retention === null ? nothingToPrune : `No generation is older than ${retention}.`);
    return;
  }
  out(dry_run ? 'These months would be removed:' : 'These months were removed:');
  const rows = months.map(({ month, accounts, requests }) => [month, String(accounts), String(requests)]);
  out(table(['month', 'accounts', 'requests'], rows));
}

type StoreAlone = Parameters<Parameters<typeof import('../../main.js')['withStoreAlone']>[1]>[0];

interface Ways<T> {
  call(client: ReturnType<CommandContext['client']>): Promise<T>;
  alone(store: StoreAlone): Promise<T>;
}

/** With `--url` or LODESTONE_URL a server is meant, and its absence is a failure. */
export async function throughServer<T>(context: CommandContext, { call, alone }: Ways<T>): Promise<T> {
  const { io, options } = context;
  try {
    return await call(context.client());
  } catch (error) {
    const named = options.url !== undefined || (io.env.LODESTONE_URL ?? '') !== '';
    const absent =
      error instanceof NoServer || (error instanceof CommandFailure && error.message.startsWith('No admin token'));
    if (named || !absent) throw error;
  }
  return onStore(options.config, io, alone, 'Name that gateway with --url, or stop it.');
}

/** The store of the configuration, which no gateway may be using; `remedy` says what to do where one is. */
async function onStore<T>(config: string | undefined, io: Io, work: Ways<T>['alone'], remedy: string): Promise<T> {
  // Loaded only here, because no other command needs it.
  const { withStoreAlone } = await import('../../main.js');
  return withStoreAlone(readConfig(config, io), work).catch(
    (error: Error & { certain?: boolean; problem?: string }) => {
      const isInUse = error.name === 'LockHeld' && error.certain;
      throw new CommandFailure(isInUse ? `${error.problem} ${remedy}` : error.message);
    },
  );
}
