import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminToken, type HttpFixture, httpFixture } from '../../tests/support/http-fixture.js';
import { createServer, type LodestoneServer } from '../http/server.js';
import { main } from './main.js';

let fixture: HttpFixture;
let running: LodestoneServer;
let port: number;
beforeAll(async () => {
  fixture = await httpFixture();
  running = await createServer(fixture.deps);
  port = await running.listen(0, '127.0.0.1');
});
afterAll(() => running.close());

async function run(...args: string[]): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const io = { out: (line: string) => void lines.push(line), err: (line: string) => void lines.push(line) };
  const env = { LODESTONE_URL: `http://127.0.0.1:${port}`, LODESTONE_ADMIN_TOKEN: adminToken };
  const code = await main(args, { ...io, env, cwd: tmpdir() });
  return { code, text: lines.join('\n') };
}

describe('lodestone account password, operator (contract 8)', () => {
  it('a password lets an account sign in, and then it can be an operator, and be none again', async () => {
    const { email, id } = fixture.account;
    const { signIns } = fixture.deps.dashboard!;
    expect(await run('account', 'operator', email)).toMatchObject({
      code: 1,
      text: expect.stringContaining('no password yet'),
    });
    const set = await run('account', 'password', email, '--password', 'correct horse 77');
    expect([set.code, set.text]).toEqual([0, `The password of ${email} was set.`]);
    expect(await signIns.signIn(email, 'correct horse 77')).not.toBeNull();
    const asJson = await run('account', 'password', email, '--password', 'correct horse 77', '--json');
    expect([asJson.code, asJson.text], 'nothing that is no JSON').toEqual([0, '']);
    expect((await run('account', 'operator', email)).text).toMatch(/operator\s+yes/);
    expect((await signIns.users()).get(id)?.operator).toBe(true);
    expect((await run('account', 'operator', email, '--revoke')).text).toMatch(/operator\s+no/);
    expect((await signIns.users()).get(id)?.operator).toBe(false);
  });

  it('always name the account and the password', async () => {
    expect((await run('account', 'operator')).code).toBe(2);
    expect((await run('account', 'password', fixture.account.email)).code).toBe(2);
  });
});
