/** `lodestone serve`: loads the configuration and runs the gateway, in this process or in several workers. */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startGateway } from './app/compose.js';
import { readyText } from './app/demo.js';
import { type Ending, endingOf, endOnFault, startFaultText } from './app/running.js';
import { runPrimary } from './app/workers/primary.js';
import { runWorker, workerNumber } from './app/workers/worker.js';
import { createLogger, type Logger } from './base/logger.js';
import {
  collectOldEarly,
  compilePatternsQuickly,
  keepRequestsYoung,
  keepStringMethodsFast,
} from './base/v8-settings.js';
import type { Config } from './config/config.js';
import { loadConfig } from './config/load-config.js';

export { withStoreAlone } from './app/store-alone.js';

/** The exit code: 0 where the gateway serves, 1 where it could not start. */
export async function runServer(argv: string[]): Promise<number> {
  keepRequestsYoung();
  collectOldEarly();
  compilePatternsQuickly();
  keepStringMethodsFast();
  const number = workerNumber();
  if (number !== null) return runWorker(number);
  const logger = createLogger();
  let ending: Ending | null = null;
  endOnFault(logger, () => ending);
  const endsBy = (chosen: Ending) => {
    ending = chosen;
  };
  try {
    const { values } = parseArgs({
      args: argv.filter((arg) => arg !== 'serve'),
      options: { config: { type: 'string' } },
    });
    const readConfig = () => loadConfig({ file: values.config, env: process.env, cwd: process.cwd() });
    const config = readConfig();
    const mainFile = fileURLToPath(import.meta.url);
    const settleFile = fileURLToPath(new URL('./settle.js', import.meta.url));
    if (config.workers > 1) await runPrimary({ config, readConfig, logger, mainFile, settleFile, endsBy });
    else await serve({ config, readConfig, logger, settleFile, endsBy });
    return 0;
  } catch (error) {
    console.error(startFaultText(error));
    return 1;
  }
}

interface ServeOptions {
  config: Config;
  readConfig: () => Config;
  logger: Logger;
  settleFile: string;
  endsBy: (ending: Ending) => void;
}

async function serve({ config, readConfig, logger, settleFile, endsBy }: ServeOptions): Promise<void> {
  const settlement = { file: settleFile };
  const starting = startGateway({ config, logger, rereadConfig: readConfig, print: console.log, settlement });
  // Set before the start is complete, so that a signal during the start stops the gateway too.
  const ending = endingOf(starting, logger);
  endsBy(ending);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void ending.stop(signal));
  process.on('SIGHUP', () => void starting.then((gateway) => gateway.reload()).catch(() => {}));
  const gateway = await starting;
  console.log(readyText(gateway.addresses));
  gateway.warmUp();
}

if (process.argv[1] && import.meta.url === new URL(`file://${process.argv[1]}`).href)
  process.exitCode = await runServer(process.argv.slice(2));
