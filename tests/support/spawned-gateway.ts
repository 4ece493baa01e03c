/** A gateway in a process of its own, for tests that kill, restart or drain a process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatewayClient } from './client.js';
import { createGatewayFiles, type GatewayFiles, type GatewayFilesOptions } from './gateway-files.js';
import { registerEnvironment, searchKept } from './secrets.js';

const ownCheckout = fileURLToPath(new URL('../..', import.meta.url));
const startTimeoutMs = 180_000;
const stopTimeoutMs = 60_000;
const readyLine = /^Lodestone is ready: API (https?:\/\/[^\s/]+)/m;

interface ExitOf {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface SpawnedGateway extends GatewayClient {
  /** Of the running process; a restart changes both. */
  readonly url: string;
  readonly pid: number;
  readonly files: GatewayFiles;
  /** What the process has written so far, all starts together. */
  readonly output: { stdout: string; stderr: string };
  /** Sends a signal and waits for the end. */
  kill(signal: NodeJS.Signals): Promise<ExitOf>;
  /** Sends a signal and does not wait. */
  signal(signal: NodeJS.Signals): void;
  /** Resolves at the end of the running process. */
  exited(): Promise<ExitOf>;
  /** Whether it takes requests; a test that failed may have left it stopped, or stopping. */
  serves(): Promise<boolean>;
  /** Starts a new process on the same files, after ending the old one if it still runs; of another version where its checkout is named. */
  restart(checkout?: string): Promise<void>;
  stop(): Promise<void>;
}

export interface SpawnOptions extends GatewayFilesOptions {
  env?: Record<string, string>;
  /** To be looked at while it starts. */
  output?: SpawnedGateway['output'];
  /** Of another version, which is built; that of these tests by default. */
  checkout?: string;
}

/** Children that a failed test did not stop end with this process. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export async function spawnGateway(options: SpawnOptions = {}): Promise<SpawnedGateway> {
  const files = await createGatewayFiles(options);
  registerEnvironment(options.env);
  const { output = { stdout: '', stderr: '' } } = options;
  const gateway = new GatewayProcess(files, output, options.env ?? {});
  try {
    await gateway.start(options.checkout);
  } catch (error) {
    await files.remove();
    throw error;
  }
  const client = new GatewayClient(() => gateway.url);
  const control = {
    files,
    output,
    kill: (signal: NodeJS.Signals) => gateway.kill(signal),
    signal: (signal: NodeJS.Signals) => void gateway.child.kill(signal),
    exited: () => gateway.exit,
    serves: () =>
      client.call('GET', '/healthz', undefined, { key: null }).then(
        () => true,
        () => false,
      ),
    restart: (checkout?: string) => gateway.restart(checkout),
    async stop() {
      await client.close();
      await gateway.stop();
      await files.remove();
      searchKept('logs', 'the log', output.stderr.split('\n'));
    },
  };
  return Object.defineProperties(Object.assign(client, control), {
    url: { get: () => gateway.url },
    pid: { get: () => gateway.child.pid },
  }) as SpawnedGateway;
}

class GatewayProcess {
  url = '';
  child!: ChildProcess;
  exit!: Promise<ExitOf>;

  constructor(
    private readonly files: GatewayFiles,
    private readonly output: SpawnedGateway['output'],
    private readonly env: Record<string, string>,
  ) {}

  async start(checkout = ownCheckout): Promise<void> {
    const mainFile = join(checkout, 'dist', 'bundle', 'main.js');
    const child = spawn(process.execPath, [mainFile, 'serve', '--config', this.files.configFile], {
      cwd: this.files.folder,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...this.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    running.add(child);
    this.exit = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        running.delete(child);
        resolve({ code, signal });
      });
    });
    child.stderr.on('data', (text) => {
      this.output.stderr += text;
    });
    this.url = await this.ready(child);
  }

  private ready(child: ChildProcess): Promise<string> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => {
        clearTimeout(timer);
        child.kill('SIGKILL');
        reject(new Error(`The gateway ${why}.\n${this.output.stdout}${this.output.stderr.slice(-2_000)}`));
      };
      const timer = setTimeout(() => fail(`was not ready within ${startTimeoutMs} ms`), startTimeoutMs);
      let seen = '';
      child.stdout?.on('data', (text) => {
        this.output.stdout += text;
        seen += text;
        const address = readyLine.exec(seen.slice(0, seen.lastIndexOf('\n') + 1))?.[1];
        if (address === undefined) return;
        clearTimeout(timer);
        resolve(address);
      });
      void this.exit.then(({ code, signal }) => fail(`ended with ${code ?? signal} before it was ready`));
    });
  }

  async kill(signal: NodeJS.Signals): Promise<ExitOf> {
    this.child.kill(signal);
    return await this.exit;
  }

  async restart(checkout?: string): Promise<void> {
    await this.stop();
    await this.start(checkout);
  }

  async stop(): Promise<void> {
    const timer = setTimeout(() => this.child.kill('SIGKILL'), stopTimeoutMs);
    await this.kill('SIGTERM');
    clearTimeout(timer);
  }
}
