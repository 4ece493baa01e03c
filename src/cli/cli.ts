/** The `lodestone` command line. `serve` runs the gateway; most other commands call its admin API. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { version } from '../base/version.js';
import { AdminClient } from './admin-client.js';
import type { Command, CommandContext } from './command.js';
import { accountCommands } from './commands/account.js';
import { catalogueCommands } from './commands/catalogue.js';
import { catalogueUpdateCommands } from './commands/catalogue-update.js';
import { credentialCommands } from './commands/credential.js';
import { creditsCommands } from './commands/credits.js';
import { doctorCommands } from './commands/doctor.js';
import { exportCommands } from './commands/export.js';
import { importCommands } from './commands/import.js';
import { initCommands } from './commands/init.js';
import { journalCommands } from './commands/journal.js';
import { keyCommands } from './commands/key.js';
import { logCommands } from './commands/log.js';
import { modelCommands } from './commands/model.js';
import { nameCommands } from './commands/name.js';
import { providerCommands } from './commands/provider.js';
import { receiptCommands } from './commands/receipt.js';
import { reconcileCommands } from './commands/reconcile.js';
import { releaseCommands } from './commands/release.js';
import { routeCommands } from './commands/route.js';
import { storageCommands } from './commands/storage.js';
import { completionScript, type Shell, shells } from './completion.js';
import { findConnection } from './connection.js';
import { commandHelp, groupHelp, helpText, serveHelp, settleHelp } from './help.js';
import { CommandFailure, type Io, UsageError } from './io.js';
import { checkStdinUse, readSecret, secretOptions } from './secrets.js';

const commands: readonly Command[] = [
  ...initCommands,
  ...doctorCommands,
  ...accountCommands,
  ...keyCommands,
  ...creditsCommands,
  ...modelCommands,
  ...credentialCommands,
  ...nameCommands,
  ...routeCommands,
  ...catalogueCommands,
  ...catalogueUpdateCommands,
  ...providerCommands,
  ...reconcileCommands,
  ...storageCommands,
  ...journalCommands,
  ...exportCommands,
  ...importCommands,
  ...receiptCommands,
  ...logCommands,
  ...releaseCommands,
  {
    name: 'completion',
    parameters: '<bash, zsh or fish>',
    summary: 'Print what completes this command line in a shell: source <(lodestone completion bash).',
    positionalsMax: 1,
    run: printCompletion,
  },
];

const globalOptions = {
  url: { type: 'string' },
  ...secretOptions('admin-token'),
  config: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

async function askAtTerminal(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}

const processIo: Io = {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
  stdin: () => readFileSync(0, 'utf8'),
  ...(process.stdin.isTTY && { ask: askAtTerminal }),
  env: process.env,
  cwd: process.cwd(),
};

/** The exit code: 0 done, 1 failed, 2 invalid command line, or what the command itself says. */
export async function main(argv: readonly string[], io: Io = processIo): Promise<number> {
  try {
    // A gateway that is installed from the registry should serve by its name alone.
    if (argv.length === 0 || argv[0]!.startsWith('--config')) return await serve([...argv]);
    if (argv[0] === 'settle') return asksForHelp(argv[1]) ? print(io, settleHelp) : await settle(argv.slice(1));
    if (argv[0] !== 'serve') return await dispatch(argv, io);
    return asksForHelp(argv[1]) ? print(io, serveHelp) : await serve(argv.slice(1));
  } catch (error) {
    if (error instanceof UsageError) {
      io.err(`${error.message}\n\nSee "lodestone help".`);
      return 2;
    }
    io.err(error instanceof CommandFailure ? error.message : String((error as Error)?.stack ?? error));
    return 1;
  }
}

async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  const [first = 'help', second] = argv;
  if (first === 'help' || asksForHelp(first)) return print(io, helpText(commands));
  if (first === '--version' || first === '-v' || first === 'version') return print(io, version);
  const command = commands.find(({ name }) => name === `${first} ${second}`);
  if (command) return run(command, argv.slice(2), io);
  const alone = commands.find(({ name }) => name === first);
  if (alone) return run(alone, argv.slice(1), io);
  const group = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (group.length === 0) throw new UsageError(`There is no command "${first}".`);
  if (asksForHelp(second)) return print(io, groupHelp(group));
  throw new UsageError(`"lodestone ${first}" needs one of: ${group.map(({ name }) => name.split(' ')[1]).join(', ')}.`);
}

function asksForHelp(argument: string | undefined): boolean {
  return argument === '--help' || argument === '-h';
}

async function printCompletion({ io, positionals: [shell = ''] }: CommandContext): Promise<void> {
  if (!shells.includes(shell as Shell)) throw new UsageError(`"${shell}" is no shell, expected ${shells.join(', ')}`);
  const served = ['serve', 'settle'].map((name) => ({ name, summary: `Run ${name}`, options: {} }));
  io.out(completionScript(shell as Shell, [...served, ...commands], globalOptions));
}

/** Loads the gateway only here, because no other command needs it. */
async function serve(argv: string[]): Promise<number> {
  const { runServer } = await import('../main.js');
  return runServer(argv);
}

async function settle(argv: string[]): Promise<number> {
  const { runSettler } = await import('../settle.js');
  return runSettler(argv);
}

function print(io: Io, text: string): number {
  io.out(text);
  return 0;
}

async function run(command: Command, argv: string[], io: Io): Promise<number> {
  const { values, positionals } = parseOptions(command, argv);
  if (values.help) return print(io, commandHelp(command));
  if (positionals.length > command.positionalsMax) {
    throw new UsageError(`"lodestone ${command.name}" does not take "${positionals[command.positionalsMax]}".`);
  }
  const options = Object.fromEntries(
    Object.entries(values).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
  let client: AdminClient | undefined;
  let code = 0;
  const context: CommandContext = {
    io,
    positionals,
    options,
    repeated: Object.fromEntries(
      Object.entries<unknown>(values).filter((pair): pair is [string, string[]] => Array.isArray(pair[1])),
    ),
    flags: new Set(Object.keys(values).filter((name) => values[name as keyof typeof values] === true)),
    json: values.json === true,
    print: (answer, text) => io.out(context.json ? JSON.stringify(answer, null, 2) : text),
    client: () => {
      const { url, config } = options;
      client ??= new AdminClient(
        findConnection({ url, config, adminToken: readSecret('admin-token', 'LODESTONE_ADMIN_TOKEN', context) }, io),
      );
      return client;
    },
    markFailed: (exitCode = 1) => {
      code = exitCode;
    },
  };
  checkStdinUse(['admin-token', 'password'], context);
  await command.run(context);
  return code;
}

function parseOptions(command: Command, argv: string[]) {
  try {
    return parseArgs({ args: argv, options: { ...command.options, ...globalOptions }, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
