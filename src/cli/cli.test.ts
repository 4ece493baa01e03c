import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adminToken, type HttpFixture, httpFixture } from '../../tests/support/http-fixture.js';
import { createServer, type LodestoneServer } from '../http/server/server.js';
import { main } from './cli.js';

let fixture: HttpFixture;
let running: LodestoneServer;
let port: number;
let cwd: string;

beforeAll(async () => {
  fixture = await httpFixture();
  running = await createServer(fixture.deps);
  port = await running.listen(0, '127.0.0.1');
});

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'lodestone-cli-'));
  return () => rmSync(cwd, { recursive: true });
});

afterAll(() => running.close());

async function run(
  line: string,
  env: Record<string, string> = connected(),
): Promise<{ code: number; out: string; err: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await main(line.split(' ').filter(Boolean), {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    env,
    cwd,
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

const connected = () => ({ LODESTONE_URL: `http://127.0.0.1:${port}`, LODESTONE_ADMIN_TOKEN: adminToken });

describe('help, version and usage', () => {
  it.each(['help', '--help', '-h'])('"%s" prints every command and exits 0', async (line) => {
    const { code, out } = await run(line);
    expect(code).toBe(0);
    for (const name of [
      'serve',
      'account create',
      'key delete',
      'credits add',
      'model soft-disable',
      'route list',
      'catalogue check',
      'provider check',
      'reconcile',
    ]) {
      expect(out).toContain(`  ${name}`);
    }
  });

  it('explains one command', async () => {
    expect((await run('key create --help')).out).toContain('Usage: lodestone key create');
  });

  it.each([
    ['serve --help', 'Usage: lodestone serve [--config FILE]'],
    ['key --help', '  key delete <key id>'],
    ['account -h', '  account suspend <id or email>'],
  ])('explains "%s" and exits 0', async (line, text) => {
    const { code, out } = await run(line);
    expect([code, out]).toEqual([0, expect.stringContaining(text)]);
  });

  it('prints the version', async () => {
    expect((await run('--version')).out).toMatch(/^\d+\.\d+\.\d+/);
  });

  it.each([
    ['dance', 'no command "dance"'],
    ['key', 'create, update, list, delete'],
    ['key dance', 'create, update, list, delete'],
    ['account list --frobnicate', '--frobnicate'],
    ['account list extra', 'extra'],
    ['account create', 'email address is missing'],
    ['account suspend', 'missing'],
    ['key delete', 'key id is missing'],
    ['credits add', 'amount is missing'],
    ['model disable llama', 'creator/model'],
  ])('exit 2 for "%s"', async (line, message) => {
    const { code, err } = await run(line);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });
});

describe('finding the server and the token', () => {
  it('takes options before the environment', async () => {
    const options = `--url http://127.0.0.1:${port}/ --admin-token ${adminToken}`;
    expect(
      (await run(`account list ${options}`, { LODESTONE_URL: 'http://127.0.0.1:1', LODESTONE_ADMIN_TOKEN: 'x' })).code,
    ).toBe(0);
  });

  it('takes host, port and admin_token of the configuration', async () => {
    writeFileSync(join(cwd, 'other.yaml'), `server: { host: 0.0.0.0, port: ${port} }\nadmin_token: ${adminToken}\n`);
    expect((await run('account list --config other.yaml', {})).code).toBe(0);
    expect((await run('account list', { LODESTONE_CONFIG: 'other.yaml' })).code).toBe(0);
  });

  it('takes the token that the first start left in data_dir', async () => {
    writeFileSync(join(cwd, 'lodestone.yaml'), `server: { port: ${port} }\nstorage: { data_dir: . }\n`);
    const without = await run('account list', {});
    expect([without.code, without.err]).toEqual([1, expect.stringContaining('admin-token')]);
    writeFileSync(join(cwd, 'admin-token'), `${adminToken}\n`);
    expect((await run('account list', {})).code).toBe(0);
  });

  it('says how to start a server where none answers', async () => {
    const { code, err } = await run('account list', { ...connected(), LODESTONE_URL: 'http://127.0.0.1:1' });
    expect(code).toBe(1);
    expect(err).toContain('npm start');
    expect(err).toContain('http://127.0.0.1:1');
  });

  it('says where a refused token came from', async () => {
    const { code, err } = await run('account list', { ...connected(), LODESTONE_ADMIN_TOKEN: 'wrong' });
    expect([code, err]).toEqual([1, expect.stringContaining('LODESTONE_ADMIN_TOKEN')]);
    expect(err).not.toContain('wrong');
  });

  it('refuses an address that is none, and a configuration with faults', async () => {
    expect((await run('account list --url localhost')).code).toBe(1);
    writeFileSync(join(cwd, 'lodestone.yaml'), 'nonsense: 1\n');
    const { code, err } = await run('account list', {});
    expect([code, err]).toEqual([1, expect.stringContaining('nonsense')]);
  });
});

describe('commands against a server', () => {
  it('leaves --account out while there is one account', async () => {
    const created = await run('key create deploy --expires 7d');
    expect(created.code).toBe(0);
    expect(created.out).toMatch(/token\s+sk-lr-[A-Za-z0-9_-]{43}/);
    expect(created.err).toContain('only this once');
    expect((await run('credits add 2.50')).out).toContain('balance is 2.5 USD');
  });

  it('creates, lists, shows, suspends and activates accounts', async () => {
    expect((await run('account create second@example.com --name Second')).code).toBe(0);
    expect((await run('account list')).out).toMatch(/ID\s+EMAIL[\s\S]*owner@example.com[\s\S]*second@example.com/);
    expect((await run('account suspend second@example.com')).out).toMatch(/status\s+suspended/);
    expect((await run('account activate second@example.com')).out).toMatch(/status\s+active/);
    expect(JSON.parse((await run('account show second@example.com --json')).out)).toMatchObject({
      name: 'Second',
      status: 'active',
    });
  });

  it('asks for --account once there are two, and says when it is unknown', async () => {
    expect(await run('key list')).toMatchObject({ code: 1, err: expect.stringContaining('--account') });
    expect(await run('key list --account nobody')).toMatchObject({ code: 1, err: expect.stringContaining('nobody') });
  });

  it('creates, lists and deletes keys by email address or id', async () => {
    const { id } = JSON.parse((await run('key create --name second --account second@example.com --json')).out);
    expect((await run('key list --account second@example.com')).out).toMatch(
      new RegExp(`${id}\\s+second\\s+sk-lr-….{4}\\s+active`),
    );
    const update = (flags: string) => run(`key update ${flags} --account second@example.com -- ${id}`);
    expect((await update('--limit 2.50 --reset daily --models meta/*,a/b --requests 5')).out).toMatch(/2\.5 USD daily/);
    expect((await update('--disabled yes --limit none')).out).toMatch(/disabled[\s\S]*none/);
    expect(await update('--requests many')).toMatchObject({
      code: 1,
      err: expect.stringContaining('requests_per_minute'),
    });
    expect((await run(`key delete -- ${id} --account`)).code).toBe(2);
    expect((await run(`key delete --account second@example.com -- ${id}`)).out).toContain('Deleted');
    expect(await run(`key delete --account second@example.com -- ${id}`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('no key'),
    });
  });

  it('adds and takes credit, and shows the ledger', async () => {
    expect((await run('credits add 10 --account second@example.com --note gift')).code).toBe(0);
    expect((await run('credits add --amount=-1.5 --account second@example.com')).out).toContain('8.5');
    const { out } = await run('credits show --account second@example.com');
    expect(out).toMatch(/8\.5 USD[\s\S]*adjustment\s+-1\.5[\s\S]*credit\s+10\s+10/);
    expect(await run('credits add ten --account second@example.com')).toMatchObject({
      code: 1,
      err: expect.stringContaining('amount_usd'),
    });
  });

  it('changes a model’s availability', async () => {
    await run('model soft-disable meta/llama --reason maintenance');
    expect(fixture.deps.modelStates.get('meta/llama')).toEqual({ state: 'soft_disabled', reason: 'maintenance' });
    await run('model disable meta/llama');
    expect(fixture.deps.modelStates.get('meta/llama').state).toBe('disabled');
    expect((await run('model enable meta/llama')).out).toContain('available');
    expect((await run('model enable meta/nothing')).code).toBe(1);
  });

  it('lists routes and reloads the catalogue', async () => {
    expect((await run('route list')).out).toMatch(/acme\/meta\/llama\/defra\s+yes\s+yes\s+available\s+closed/);
    expect(JSON.parse((await run('route list --provider zeta --json')).out).data).toHaveLength(1);
    expect((await run('catalogue reload')).out).toBe('Reloaded: 2 models, 5 routes, 3 providers.');
  });

  it('checks catalogue files without a server', async () => {
    writeFileSync(join(cwd, 'bad.yaml'), 'models:\n  - creator: meta\n');
    const { code, err } = await run('catalogue check bad.yaml', {});
    expect([code, err]).toEqual([1, expect.stringContaining('bad.yaml:2')]);
    expect((await run('catalogue check builtin', {})).out).toMatch(/^No faults\.\n\d+ providers/);
  });
});
