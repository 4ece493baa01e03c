/** A gateway whose catalogue source hangs: it listens, and has no routing snapshot until the test gives it one. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { GatewayClient } from '../support/client.js';
import { freePort } from '../support/free-port.js';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../support/gateway.js';
import type { YamlObject } from '../support/gateway-files.js';

const startMs = 180_000;

export interface WaitingGateway {
  client: GatewayClient;
  url: string;
  /** Lets the catalogue come; resolves when the gateway has started. */
  release(catalogue: YamlObject): Promise<TestGateway>;
  stop(): Promise<void>;
}

export async function startWithoutSnapshot(options: TestGatewayOptions = {}): Promise<WaitingGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-fifo-'));
  const fifo = join(folder, 'catalogue.yaml');
  execFileSync('mkfifo', [fifo]);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = { ...(options.config?.server as YamlObject | undefined), port };
  const starting = startGateway({ ...options, config: { ...options.config, server, catalogue: [fifo] } });
  starting.catch(() => {});
  const client = new GatewayClient(() => url);
  await untilItListens(url);
  let released = false;
  const release = async (catalogue: YamlObject) => {
    released = true;
    await writeFile(fifo, stringify(catalogue));
    return starting;
  };
  return {
    client,
    url,
    release,
    async stop() {
      await client.close();
      const gateway = released ? await starting : await release({ providers: [], regions: [], models: [] });
      await gateway.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilItListens(url: string): Promise<void> {
  for (const end = performance.now() + startMs; performance.now() < end; ) {
    try {
      if ((await fetch(`${url}/healthz`)).ok) return;
    } catch {
      // Not yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`The gateway did not listen within ${startMs} ms.`);
}
