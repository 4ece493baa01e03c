import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codeAt } from '../../tests/support/authenticator.js';
import { adminToken, type HttpFixture, httpFixture } from '../../tests/support/http-fixture.js';
import { createServer, type LodestoneServer } from '../http/server/server.js';
import { main } from './cli.js';

let fixture: HttpFixture;
let running: LodestoneServer;
let port: number;
beforeAll(async () => {
  fixture = await httpFixture();
  running = await createServer(fixture.deps);
  port = await running.listen(0, '127.0.0.1');
});
afterAll(() => running.close());

let cwd: string;
let stdin: string;
let env: Record<string, string>;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'lodestone-secrets-'));
  stdin = '';
  env = { LODESTONE_URL: `http://127.0.0.1:${port}`, LODESTONE_ADMIN_TOKEN: adminToken };
  return () => rmSync(cwd, { recursive: true });
});

async function run(...args: string[]): Promise<{ code: number; text: string; warnings: string }> {
  const [lines, errors]: string[][] = [[], []];
  const io = { out: (line: string) => void lines!.push(line), err: (line: string) => void errors!.push(line) };
  const code = await main(args, { ...io, stdin: () => stdin, env, cwd });
  return { code, text: lines!.join('\n'), warnings: errors!.join('\n') };
}

describe('lodestone account password, reset-password, operator', () => {
  it('a password lets an account sign in, and then it can be an operator, and be none again', async () => {
    const { email, id } = fixture.account;
    const { signIns } = fixture.deps.dashboard!;
    expect(await run('account', 'operator', email)).toMatchObject({
      code: 1,
      warnings: expect.stringContaining('no password yet'),
    });
    stdin = 'correct horse 77\n';
    const set = await run('account', 'password', email, '--password-stdin');
    expect(set).toEqual({ code: 0, text: `The password of ${email} was set.`, warnings: '' });
    expect(await signIns.verifySignIn(email, 'correct horse 77')).not.toBeNull();
    const asJson = await run('account', 'password', email, '--password', '-', '--json');
    expect([asJson.code, asJson.text], 'nothing that is no JSON').toEqual([0, '']);
    expect((await run('account', 'operator', email)).text).toMatch(/operator\s+yes/);
    expect((await fixture.store.people.find(id))?.operator).toBe(true);
    expect((await run('account', 'operator', email, '--revoke')).text).toMatch(/operator\s+no/);
    expect((await fixture.store.people.find(id))?.operator).toBe(false);
  });

  it('a link resets a password once', async () => {
    const { email } = fixture.account;
    const { code, text } = await run('account', 'reset-password', email);
    const [, token] = /^ {2}https:\/\/ai\.example\.com\/dashboard\/reset-password#([\w-]{43})$/m.exec(text) ?? [];
    expect([code, text]).toEqual([0, expect.stringContaining(`to the owner of ${email} only`)]);
    const { resets, signIns } = fixture.deps.dashboard!;
    expect(await resets.use(token!, 'reset horse 79', '::1')).toMatchObject({ email });
    expect(await signIns.verifySignIn(email, 'reset horse 79')).not.toBeNull();
    expect(await resets.use(token!, 'reset horse 80', '::1')).toBeNull();
    const asJson = JSON.parse((await run('account', 'reset-password', email, '--json')).text);
    expect(Object.keys(asJson)).toEqual(['url', 'expires_at']);
    expect((await run('account', 'reset-password')).code).toBe(2);
  });

  it('two-factor sign-in of a lost device is reset', async () => {
    const { account, clock, deps } = fixture;
    const { signIns, twoFactor } = deps.dashboard!;
    await signIns.setPassword(account, 'correct horse 77');
    const { secret } = await twoFactor.begin(account);
    expect(await twoFactor.confirm(account, codeAt(secret, clock.now()), '127.0.0.1')).toHaveLength(10);
    expect((await run('account', 'show', account.email)).text).toMatch(/two-factor\s+on/);
    const { code, text } = await run('account', 'reset-two-factor', account.email);
    expect([code, text]).toEqual([0, expect.stringContaining(`Two-factor sign-in of ${account.email} is off`)]);
    expect(await twoFactor.isOn(account.id)).toBe(false);
    expect((await run('account', 'reset-two-factor', account.email)).text).toContain('was off already');
    expect(JSON.parse((await run('account', 'reset-two-factor', account.email, '--json')).text)).toMatchObject({
      two_factor: false,
    });
    expect((await run('account', 'reset-two-factor')).code).toBe(2);
  });

  it('always name the account and the password', async () => {
    expect((await run('account', 'operator')).code).toBe(2);
    expect((await run('account', 'password', fixture.account.email)).code).toBe(2);
  });
});

describe('a secret', () => {
  const password = 'another horse 78';
  const signsIn = () => fixture.deps.dashboard!.signIns.verifySignIn(fixture.account.email, password);
  const setPassword = (...args: string[]) => run('account', 'password', fixture.account.email, ...args);

  it('is read from standard input, a file or the environment', async () => {
    writeFileSync(join(cwd, 'password'), `${password}\n`);
    expect(await setPassword('--password-file', 'password')).toMatchObject({ code: 0, warnings: '' });
    expect(await signsIn()).not.toBeNull();
    env.LODESTONE_PASSWORD = password;
    expect(await setPassword()).toMatchObject({ code: 0, warnings: '' });
    delete env.LODESTONE_PASSWORD;
    stdin = `${password}\r\nnot of it`;
    expect((await run('account', 'create', 'new@example.com', '--password-stdin')).code).toBe(0);
    expect(await fixture.deps.dashboard!.signIns.verifySignIn('new@example.com', password)).not.toBeNull();
    expect(await run('account', 'password', '--help')).toMatchObject({
      text: expect.stringContaining('--password-stdin'),
    });
  });

  it('that opens the server is read from standard input or a file', async () => {
    delete env.LODESTONE_ADMIN_TOKEN;
    writeFileSync(join(cwd, 'token'), adminToken);
    expect(await run('account', 'list', '--admin-token-file', 'token')).toMatchObject({ code: 0, warnings: '' });
    stdin = `${adminToken}\n`;
    expect(await run('account', 'list', '--admin-token-stdin')).toMatchObject({ code: 0, warnings: '' });
    expect(await run('account', 'list', '--admin-token', '-')).toMatchObject({ code: 0, warnings: '' });
  });

  it('as an argument works, with a warning that does not repeat it', async () => {
    for (const given of [
      await setPassword('--password', password),
      await run('account', 'list', '--admin-token', adminToken),
    ]) {
      expect([given.code, given.warnings]).toEqual([0, expect.stringMatching(/other users.*-stdin/)]);
      expect(given.warnings).not.toMatch(new RegExp(`${password}|${adminToken}`));
    }
  });

  it('that is empty, missing, given twice or one of two from standard input is refused', async () => {
    expect(await setPassword('--password-stdin')).toMatchObject({
      code: 1,
      warnings: expect.stringContaining('empty'),
    });
    expect((await setPassword('--password-file', 'absent')).code).toBe(1);
    expect((await setPassword('--password', password, '--password-stdin')).code).toBe(2);
    expect((await setPassword('--password-stdin', '--admin-token', '-')).code).toBe(2);
  });
});
