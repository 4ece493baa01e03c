/** The whole program as a user starts it: its own PostgreSQL, the demo account, the command line, the end. */

import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DashboardClient } from '../support/dashboard-client.js';
import { freePort } from '../support/free-port.js';
import { type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import { measuredTime } from '../support/measured-time.js';
import { registerSecret } from '../support/secrets.js';
import { threadTime } from '../support/thread-time.js';
import { messages } from './harness.js';

const bin = fileURLToPath(new URL('../../bin/lodestone', import.meta.url));
const environment = { PATH: process.env.PATH, HOME: process.env.HOME };

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

function run(args: string[], env: Record<string, string> = {}, cwd = tmpdir()): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [bin, ...args],
      { env: { ...environment, ...env }, cwd, timeout: 120_000 },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    );
  });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const echo = { model: 'sandbox/lodestone/echo', messages };
const tokenIn = (text: string) => /sk-lr-[A-Za-z0-9_-]{43}/.exec(text)?.[0] ?? '';

/** A start on an embedded store takes about a second on an idle machine. One that reads its history, or makes its store anew, takes longer than this. */
const quickMs = 6_000;

/** The quickest of three, without what it waited for a processor: what the start itself takes, whatever else the machine does. */
async function quickestStart(gateway: SpawnedGateway): Promise<number> {
  let quickestMs = Number.POSITIVE_INFINITY;
  for (let count = 0; count < 3 && quickestMs >= quickMs; count++) {
    if (count > 0) await gateway.kill('SIGTERM');
    const startedAt = performance.now();
    await gateway.restart();
    const machinesShareMs = threadTime(gateway.pid).keptWaitingMs;
    quickestMs = Math.min(quickestMs, performance.now() - startedAt - machinesShareMs);
  }
  return quickestMs;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

describe('a first start with the embedded store', () => {
  let gateway: SpawnedGateway;
  let key: string;
  let adminToken: string;
  /** What stood there when /readyz was 200 for the first time. */
  let printedBefore = '';

  beforeAll(async () => {
    // The sandbox's slow model needs the real budgets.
    const port = await freePort();
    const config = { demo: true, admin_token: null, server: { drain: '10s', port } };
    const output = { stdout: '', stderr: '' };
    let failed = false;
    const spawning = spawnGateway({ embedded: 'first', config, output });
    spawning.catch(() => {
      failed = true;
    });
    // Cheaper than a request, of which there would be hundreds before anybody listens.
    while (!failed && !(await isListening(port))) await pause(5);
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ status }) => status === 200,
        () => failed,
      );
    while (!(await isReady())) await pause(5);
    // What the process wrote before it answered is in the pipe already; one turn of the loop reads it.
    await pause(5);
    printedBefore = output.stdout;
    gateway = await spawning;
    key = tokenIn(printedBefore);
    adminToken = readFileSync(join(gateway.files.dataDir, 'admin-token'), 'utf8').trim();
    registerSecret('the admin token', adminToken);
  }, 180_000);
  afterAll(() => gateway?.stop());

  const lodestone = (...args: string[]) => run(args, { LODESTONE_URL: gateway.url, LODESTONE_ADMIN_TOKEN: adminToken });
  const admin = async (method: string, path: string, body?: unknown) =>
    (await gateway.call(method, `/admin/v1${path}`, body, { key: adminToken })).json;

  it('the demo account, its key and its link exist and are printed before /readyz is 200', () => {
    expect(printedBefore).toMatch(/sk-lr-[\w-]{43}/);
    expect(printedBefore).toMatch(/\/dashboard\/claim#[\w-]{43}/);
    expect(printedBefore.indexOf('Lodestone is ready')).toBeGreaterThan(printedBefore.indexOf('/dashboard/claim#'));
  });

  it('prints one ready line with the three addresses', () => {
    const ready = gateway.output.stdout.split('\n').filter((line) => line.includes('ready'));
    expect(ready).toHaveLength(1);
    for (const address of [gateway.url, `${gateway.url}/dashboard`, `${gateway.url}/docs`])
      expect(ready[0]).toContain(address);
  });

  it('prints the demo key once, with a curl line that works when pasted', async () => {
    const lines = gateway.output.stdout.split('\n');
    const curl = lines.find((line) => line.trim().startsWith('curl '))!;
    expect(curl).toContain(`${gateway.url}/v1/chat/completions`);
    expect(curl).toContain(key);
    const answer = await new Promise<string>((resolve, reject) => {
      const shell = spawn('sh', ['-c', curl.trim().replace('curl ', 'curl -s ')], { env: environment });
      let text = '';
      shell.stdout.on('data', (piece) => {
        text += piece;
      });
      shell.once('error', reject);
      shell.once('close', () => resolve(text));
    });
    expect(JSON.parse(answer)).toMatchObject({ object: 'chat.completion', model: 'sandbox/lodestone/echo/global' });
  });

  it('that key answers JSON and streams, from an account with a small credit', async () => {
    const whole = await gateway.chat(echo, { key });
    expect([whole.status, whole.json.choices[0].message.content]).toEqual([200, expect.stringContaining('Say hello.')]);
    const stream = await gateway.stream(echo, { key });
    expect([stream.status, stream.done, stream.content]).toEqual([200, true, whole.json.choices[0].message.content]);
    const { balance_usd } = (await gateway.call('GET', '/v1/credits', undefined, { key })).json.data;
    expect(Number(balance_usd)).toBeGreaterThan(0);
  });

  it('logs hold no key, no admin token and no prompt; stdout only what a user is told', () => {
    expect(gateway.output.stderr).not.toContain(key.slice(16));
    expect(gateway.output.stderr).not.toContain(adminToken);
    expect(gateway.output.stderr).not.toContain('Say hello.');
    for (const line of gateway.output.stderr.split('\n').filter(Boolean)) expect(() => JSON.parse(line)).not.toThrow();
  });

  it('lodestone key create --json gives a key that works; key delete ends it with the next request', async () => {
    const created = await lodestone('key', 'create', 'from the command line', '--json');
    expect([created.code, created.stderr]).toEqual([0, '']);
    const made = JSON.parse(created.stdout);
    expect(made).toMatchObject({ name: 'from the command line', state: 'active', prefix: 'sk-lr-' });
    expect((await gateway.chat(echo, { key: made.token })).status).toBe(200);
    const list = JSON.parse((await lodestone('key', 'list', '--json')).stdout);
    expect(list.data.map(({ id }: { id: string }) => id)).toContain(made.id);
    expect((await lodestone('key', 'delete', made.id)).code).toBe(0);
    const refused = await gateway.chat(echo, { key: made.token });
    expect([refused.status, refused.json.error.code]).toEqual([401, 'api_key_not_registered']);
  });

  it('the command line says what is wrong, with exit code 1 or 2', async () => {
    const unknown = await lodestone('key', 'delete', 'nothing');
    expect([unknown.code, unknown.stdout]).toEqual([1, '']);
    expect(unknown.stderr).toContain('nothing');
    const wrongToken = await run(['account', 'list'], { LODESTONE_URL: gateway.url, LODESTONE_ADMIN_TOKEN: 'wrong' });
    expect(wrongToken.code).toBe(1);
    expect(wrongToken.stderr).toContain('LODESTONE_ADMIN_TOKEN');
    expect((await lodestone('nonsense')).code).toBe(2);
  });

  it('the admin token is made in data_dir/admin-token, mode 0600 in a private directory, and the command line finds it there', async () => {
    expect(statSync(join(gateway.files.dataDir, 'admin-token')).mode & 0o777).toBe(0o600);
    const modes = ['.', 'journal', 'postgres'].map((name) => statSync(join(gateway.files.dataDir, name)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o700]);
    const args = ['account', 'create', 'me@example.test', '--json', '--config', gateway.files.configFile];
    const { code, stdout, stderr } = await run(args, { LODESTONE_URL: gateway.url });
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ email: 'me@example.test', balance_usd: '0' });
  });

  it('an unused link to claim the demo account ends when the account gets a password in another way', async () => {
    const token = /\/dashboard\/claim#([\w-]{43})/.exec(gateway.output.stdout)?.[1];
    const accounts: { id: string; email: string }[] = (await admin('GET', '/accounts')).data;
    const demo = accounts.find(({ email }) => email !== 'me@example.test')!;
    await admin('PUT', `/accounts/${demo.id}/password`, { password: 'set by an operator' });
    expect((await new DashboardClient(gateway.url).call('POST', 'claim', { token })).status).toBe(401);
  });

  it('a second process on the same data directory is refused with a clear message and exit code 1', async () => {
    const second = await run(['serve', '--config', gateway.files.configFile]);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(gateway.files.dataDir);
    expect(second.stderr).toMatch(/in use by another Lodestone process/);
    expect(second.stderr, 'no stack').not.toMatch(/\n\s+at /);
    expect((await gateway.chat(echo, { key })).status).toBe(200);
  });

  it('SIGTERM: a running stream finishes, new work is refused, exit code 0; a second start is quick and keeps everything', async () => {
    const slow = {
      model: 'sandbox/lodestone/slow',
      messages: [{ role: 'user', content: 'one two three four five six' }],
    };
    const before = await admin('GET', '/accounts');
    const running = gateway.stream(slow, { key });
    await pause(300);
    gateway.signal('SIGTERM');
    await pause(100);
    const refused = await gateway.chat(echo, { key }).catch(() => 'refused');
    if (refused !== 'refused')
      expect(refused).toMatchObject({ status: 503, json: { error: { code: 'service_unavailable' } } });
    const stream = await running;
    expect([stream.status, stream.done]).toEqual([200, true]);
    expect(stream.content).toContain('six');
    expect(await gateway.exited()).toEqual({ code: 0, signal: null });
    const id = String(stream.headers['x-generation-id']);

    expect(await quickestStart(gateway), measuredTime).toBeLessThan(quickMs);
    expect((await gateway.chat(echo, { key })).status).toBe(200);
    const record = await gateway.call('GET', `/v1/generation/${id}`, undefined, { key });
    expect(record.json.data).toMatchObject({ streamed: true, stream_end: 'complete' });
    const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);
    expect(idsOf(await admin('GET', '/accounts')), 'no second demo account').toEqual(idsOf(before));
    expect(gateway.output.stdout.match(/curl /g), 'the demo key is shown once').toHaveLength(1);
  });
});

describe('a start that cannot be', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-start-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('names file, line and field of every fault in the configuration, exit code 1, no stack', async () => {
    const file = join(folder, 'faulty.yaml');
    writeFileSync(file, 'server:\n  port: 70000\n  colour: blue\ntimeouts:\n  overall: soon\n');
    const { code, stderr, stdout } = await run(['serve', '--config', file]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/faulty\.yaml:2:\d+: server\.port: .*70000/);
    expect(stderr).toMatch(/faulty\.yaml:3:\d+: server\.colour/);
    expect(stderr).toMatch(/faulty\.yaml:5:\d+: timeouts\.overall: .*soon/);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it('says so when the configuration file is not there; without a command it serves too, with the one that is named', async () => {
    const { code, stderr } = await run(['--config', join(folder, 'absent.yaml')]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('absent.yaml:1:1: file: cannot be read')]);
  });

  it('names file and line of a fault in the catalogue, exit code 1', async () => {
    writeFileSync(
      join(folder, 'cat.yaml'),
      'models:\n  - creator: a\n    model: b\n    routes:\n      - { provider: nobody, locode: global }\n',
    );
    const file = join(folder, 'with-catalogue.yaml');
    writeFileSync(file, `server: { port: 0 }\ncatalogue: [cat.yaml]\nstorage: { data_dir: ${join(folder, 'data')} }\n`);
    const { code, stderr } = await run(['serve', '--config', file]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/cat\.yaml:5:\d+: .*nobody/);
    expect(stderr).not.toMatch(/\n\s+at /);
  }, 180_000);
});
