/** `lodestone serve`: configuration → compose → listen → drain. */
import { parseArgs } from 'node:util';
import { createLogger, type Logger } from './base/logger.js';
import { type Gateway, startGateway } from './compose.js';
import { loadConfig } from './config/load.js';
import { claimText, createDemo, demoText } from './demo.js';

/** Faults of a start that the operator can mend are told in plain words, without a stack. */
const plainFaults = new Set(['ConfigFault', 'CatalogueFault', 'LockHeld', 'StoreUnavailable']);

/** The exit code of a start: 0 while the gateway serves, 1 where it could not begin to. */
export async function runServer(argv: string[]): Promise<number> {
  const logger = createLogger();
  keepAlive(logger);
  try {
    const { values } = parseArgs({
      args: argv.filter((arg) => arg !== 'serve'),
      options: { config: { type: 'string' } },
    });
    const readConfig = () => loadConfig({ file: values.config, env: process.env, cwd: process.cwd() });
    const config = readConfig();
    const starting = startGateway({ config, logger, rereadConfig: readConfig });
    // Before it is started: a signal that comes in between stops it as soon as it is.
    stopOnSignals(starting, logger);
    const gateway = await starting;
    const { base, dashboard, docs } = gateway.addresses;
    console.log(`Lodestone is ready: API ${base}  dashboard ${dashboard}  docs ${docs}`);
    if (config.demo && config.storage.databaseUrl === null) {
      const token = await createDemo(gateway.store, gateway.directory);
      if (token !== null) console.log(demoText(token, base));
      const claim = await gateway.demoClaim.offer();
      if (claim !== null) console.log(claimText(claim, dashboard));
    }
    return 0;
  } catch (error) {
    reportFault(error);
    return 1;
  }
}

function reportFault(error: unknown): void {
  const { name, message, code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') console.error(`${message}. Stop what uses it, or set PORT to another one.`);
  else console.error(plainFaults.has(name) || code?.startsWith('ERR_PARSE_ARGS_') ? message : error);
}

/** A fault in one request must not take the others with it. What is settled is safe in the journal either way. */
function keepAlive(logger: Logger): void {
  process.on('unhandledRejection', (error) => logger.error({ err: error }, 'an unhandled rejection'));
  process.on('uncaughtException', (error) => logger.error({ err: error }, 'an uncaught exception'));
}

function stopOnSignals(starting: Promise<Gateway>, logger: Logger): void {
  let stopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    logger.info({ signal }, 'stopping: new work is refused, running answers finish');
    try {
      await (await starting).stop();
      process.exit(0);
    } catch (error) {
      logger.error({ error: String(error) }, 'stopped, but not cleanly; what is not settled waits in the journal');
      process.exit(1);
    }
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));
  process.on('SIGHUP', () => void starting.then(({ catalogue }) => catalogue.reload()).catch(() => {}));
}

if (process.argv[1] && import.meta.url === new URL(`file://${process.argv[1]}`).href)
  process.exitCode = await runServer(process.argv.slice(2));
