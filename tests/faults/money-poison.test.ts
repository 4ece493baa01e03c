/** Records that a store may reject: they are settled or set aside, and never delay those behind them, also across a restart. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as up from '../support/scripted-upstream.js';
import { ask, costOf, expectBooks, expectServes, type Rig, scaled, startRig } from './fixture.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

/** Texts that PostgreSQL takes as no text, or that are hard on a parser. */
const odd = { nul: 'a\u0000b', surrogate: 'a\ud800b', escapes: '\\N\\.\t\n\r\b"', huge: 'x'.repeat(1_000_000) };

it('odd bytes from upstreams and in names do not stop later settlements, before or after a restart', async () => {
  const account = await rig.gateway.createAccount();
  const costs: bigint[] = [];
  let records = 0;
  for (const text of Object.values(odd)) {
    rig.upstream.reset();
    rig.upstream.enqueue(
      up.json(up.completion({ finishReason: text, id: text, content: text })),
      up.sse([up.chunk({ content: text }), up.chunk({ finishReason: text, delta: {}, usage: up.usage(9, 3) })]),
      up.json({ error: { message: text, code: text, type: text } }, { status: 500 }),
    );
    for (const stream of [false, true]) {
      expect((await rig.gateway.chat(ask({ stream }), { key: account.key })).status).toBe(200);
      costs.push(costOf(9, 3));
    }
    expect((await rig.gateway.chat(ask(), { key: account.key })).status).toBe(503);
    records += 3;
  }
  rig.upstream.reset();
  const normal = scaled(50, 1_000);
  for (let sent = 0; sent < normal; sent += 50) {
    await Promise.all(Array.from({ length: 50 }, () => rig.gateway.chat(ask(), { key: account.key })));
  }
  for (let sent = 0; sent < normal; sent++) costs.push(costOf(9, 3));
  await expectBooks(rig.gateway, account, { records: records + normal, costs });
  await rig.gateway.restart();
  expect((await rig.gateway.chat(ask(), { key: account.key })).status).toBe(200);
  await expectBooks(rig.gateway, account, { records: records + normal + 1, costs: [...costs, costOf(9, 3)] });
  expect(setAside()).toEqual([]);
  await expectServes(rig);
}, 180_000);

it('a key of an odd name is refused or works, and its requests are settled like any other', async () => {
  for (const name of [...Object.values(odd), '\u202e‮drow', '🗝️'.repeat(20), '💥\ufffe']) {
    const account = await rig.gateway.createAccount();
    const made = await rig.gateway.admin('POST', `/accounts/${account.accountId}/keys`, { name, expires: 'never' });
    expect([201, 400]).toContain(made.status);
    const key = made.status === 201 ? (made.json.token as string) : account.key;
    expect((await rig.gateway.chat(ask(), { key })).status).toBe(200);
    const [record] = await expectBooks(rig.gateway, account, { records: 1, costs: [costOf(9, 3)] });
    expect(record!.key_name).toBe(made.status === 201 ? made.json.name : 'test');
  }
  expect(setAside()).toEqual([]);
});

function setAside(): string[] {
  const journal = join(rig.gateway.files.dataDir, 'journal');
  return readdirSync(journal)
    .filter((name) => name.includes('aside'))
    .map((name) => readFileSync(join(journal, name), 'utf8').slice(0, 500));
}
