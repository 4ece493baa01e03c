/** `lodestone storage …`: through the gateway where one runs, else on the store itself. */
import { NoServer } from '../admin-client.js';
import { type Command, type CommandContext, flag, required, text } from '../command.js';
import { readConfig } from '../connection.js';
import { agrees, CommandFailure, type Io, UsageError } from '../io.js';
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
    options: { 'dry-run': flag, yes: flag },
    positionalsMax: 0,
    run: pruneStorage,
  },
  {
    name: 'storage move',
    parameters: '--to postgres://…',
    summary: 'Copy the store of the configuration to another PostgreSQL, and compare both. Stop the gateway first.',
    options: { to: text },
    positionalsMax: 0,
    run: moveStorage,
  },
];

async function checkStorage(context: CommandContext): Promise<void> {
  const { print, markFailed } = context;
  const answer = await throughServer(context, {
    call: (client) => client.call<CheckAnswer>('GET', '/storage/check', undefined, longMs),
    alone: async ({ records }) => {
      const { accounts, generations, faults } = await records.check();
      return { ok: faults.length === 0, accounts, generations, faults };
    },
  });
  if (!answer.ok) markFailed();
  const { accounts, generations, faults } = answer;
  const agreed = `Everything agrees: ${accounts} accounts, ${generations} generations.`;
  const rows = faults.map(({ what, where, expected, found }) => [what, where, expected, found]);
  print(answer, answer.ok ? agreed : table(['what', 'where', 'expected', 'found'], rows));
}

async function pruneStorage(context: CommandContext): Promise<void> {
  const { flags, io } = context;
  if (!flags.has('dry-run') && !flags.has('yes') && io.ask) {
    const planned = await prune(context, true);
    io.out(monthsText(planned));
    if (planned.months.length === 0 || !(await agrees(io, 'Remove these generations?'))) return;
  }
  const answer = await prune(context, flags.has('dry-run'));
  context.print(answer, monthsText(answer));
}

/** Only without a gateway, which would go on writing to the store that is left. */
async function moveStorage({ io, print, options }: CommandContext): Promise<void> {
  const to = required(options.to, 'The target (--to postgres://…)');
  if (!/^postgres(ql)?:\/\/\S+$/i.test(to))
    throw new UsageError('--to must be a postgres:// or postgresql:// address.');
  const moved = await onStore(options.config, io, ({ records }) => records.moveTo(to), 'Stop it before the move.');
  const rows = moved.map((each) => [each.table, each.rows]);
  const advice = 'Both sides agree. Set storage.database_url to the new address, and start the gateway.';
  print(moved, `${table(['table', 'rows'], rows)}\n${advice}`);
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

const nothingToPrune = 'Everything is kept: storage.retention.generations is not set.';

function monthsText({ dry_run, retention, months }: PruneAnswer): string {
  if (retention === null) return nothingToPrune;
  if (months.length === 0) return `No generation is older than ${retention}.`;
  const rows = months.map(({ month, accounts, requests }) => [month, accounts, requests]);
  const head = dry_run ? 'These months would be removed:' : 'These months were removed:';
  return `${head}\n${table(['month', 'accounts', 'requests'], rows)}`;
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
