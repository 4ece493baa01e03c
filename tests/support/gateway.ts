/** A whole gateway for a test, compiled and composed as in production, in this process or in one of its own. */

import type { Logger } from '../../src/base/logger.js';
import type { Clock } from '../../src/base/time.js';
import { GatewayClient } from './client.js';
import { createGatewayFiles, type GatewayFiles, type GatewayFilesOptions } from './gateway-files.js';
import { keptLog } from './kept-by-gateway.js';
import { registerEnvironment, searchKept } from './secrets.js';

export { catalogueOf } from './catalogues.js';
export { type SpawnedGateway, spawnGateway } from './spawned-gateway.js';

export interface TestGatewayOptions extends GatewayFilesOptions {
  clock?: Clock;
  /** Is told of every line; without it nobody is. */
  logger?: Logger;
  /** The environment that the configuration and the catalogue see. */
  env?: Record<string, string>;
  /** Is told what a first start prints about the demo account, with `demo: true` and the embedded store. */
  print?: (text: string) => void;
}

export interface TestGateway extends GatewayClient {
  /** Of the running gateway; a restart changes it. */
  readonly url: string;
  readonly files: GatewayFiles;
  /** Stops it and starts another on the same files, in the same process: for a tenth of what a process of its own costs. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

type Compose = typeof import('../../src/app/compose.js');
type Load = typeof import('../../src/config/load-config.js');

/** The compiled module: worker threads inside it need real .js files. */
function compiled<Module>(path: string): Promise<Module> {
  return import(/* @vite-ignore */ new URL(`../../dist/${path}`, import.meta.url).href);
}

export async function startGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const files = await createGatewayFiles(options);
  const log = keptLog(options.logger);
  registerEnvironment(options.env);
  try {
    const { loadConfig } = await compiled<Load>('config/load-config.js');
    const compose = await compiled<Compose>('app/compose.js');
    const config = loadConfig({ file: files.configFile, env: options.env ?? {}, cwd: files.folder });
    const start = () =>
      compose.startGateway({
        config,
        env: options.env ?? {},
        logger: log.logger,
        ...(options.clock && { clock: options.clock }),
        ...(options.print && { print: options.print }),
      });
    let running = await start().catch((error: Error) => againIfBusy(error, start));
    const client = new GatewayClient(() => running.baseUrl);
    const control = {
      files,
      async restart() {
        await running.stop();
        running = await start();
      },
      async stop() {
        await client.close();
        await running.stop();
        await files.remove();
        searchKept('logs', 'the log', log.lines);
      },
    };
    return Object.defineProperty(Object.assign(client, control), 'url', { get: () => running.baseUrl }) as TestGateway;
  } catch (error) {
    await files.remove();
    throw error;
  }
}

/** On a machine that stands still for seconds the tests' own PostgreSQL may miss a query's timeout. One more start is enough. */
async function againIfBusy<T>(error: Error, start: () => Promise<T>): Promise<T> {
  if (error.name !== 'StoreUnavailable') throw error;
  console.log('A start was repeated, because the PostgreSQL of the tests did not answer in time.');
  return start();
}
