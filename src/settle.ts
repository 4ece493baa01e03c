/** `lodestone settle`: settles the journals of a data directory. `lodestone serve` starts it as a process of its own. */
import { setPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { startFaultText } from './app/running.js';
import type { ToProgram } from './app/settler/messages.js';
import { type Program, type ProgramOptions, startProgram } from './app/settler/program.js';
import { createLogger } from './base/logger.js';
import { collectOldEarly, keepStringMethodsFast } from './base/v8-settings.js';
import { loadConfig } from './config/load-config.js';

/** By hand: works until a signal ends it. The exit code: 0 where it works, 1 where it could not start. */
export async function runSettler(argv: string[]): Promise<number> {
  collectOldEarly();
  keepStringMethodsFast();
  const { values } = parseArgs({ args: argv, options: { config: { type: 'string' } } });
  try {
    const config = loadConfig({ file: values.config, env: process.env, cwd: process.cwd() });
    const program = await startProgram({ config, logger: createLogger(), waits: false });
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => endBy(Promise.resolve(program)).catch(exitWithFault));
    console.log(`Lodestone settles the journals of ${config.storage.dataDir}.`);
    return 0;
  } catch (error) {
    console.error(startFaultText(error));
    return 1;
  }
}

/** What it could not settle stays in the journals, for the next one. */
function exitWithFault(error: unknown): never {
  console.error(String(error));
  process.exit(1);
}

/** On a core that requests fill, the settler gets half as much as they do, and just keeps up with them. At 5 it would fall behind. */
const niceness = 3;

function letRequestsGoFirst(): void {
  try {
    setPriority(niceness);
  } catch {
    // Not allowed here: it settles beside the requests.
  }
}

/** As a process that `serve` has started. A signal to the whole group is for `serve`, which ends this one when it has drained. */
function runChild(): void {
  letRequestsGoFirst();
  collectOldEarly();
  keepStringMethodsFast();
  let starting: Promise<Program> | null = null;
  let isLocked = false;
  let hasOwnStore = true;
  let isEnding = false;
  const end = () => {
    // One that only waits for another settler has nothing to end.
    if (!isLocked) process.exit(0);
    if (isEnding) return;
    isEnding = true;
    endBy(starting).catch(exitWithFault);
  };
  process.on('message', (message: ToProgram) => {
    if (message.type === 'stop') return end();
    hasOwnStore = message.connection === undefined;
    const logger = createLogger(undefined, { settler: process.pid });
    const locked = () => {
      isLocked = true;
    };
    starting ??= start({ ...message, logger, waits: true, locked });
  });
  // The embedded store ends with the process that runs it, so nothing can be settled then.
  process.on('disconnect', () => (hasOwnStore ? end() : process.exit(0)));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

async function start(options: ProgramOptions): Promise<Program> {
  try {
    return await startProgram(options);
  } catch (error) {
    options.logger.error({ error: startFaultText(error) }, 'the settler could not start');
    return process.exit(1);
  }
}

async function endBy(starting: Promise<Program> | null): Promise<void> {
  await (await starting)?.stop().catch(() => {});
  process.exit(0);
}

if (process.send && process.argv[1] && import.meta.url === new URL(`file://${process.argv[1]}`).href) runChild();
