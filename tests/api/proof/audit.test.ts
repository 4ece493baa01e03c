/** The audit log as evidence: its export, its check against the log, and what an account sees of it. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { runCommand } from '../../support/proofs.js';
import { useGateway } from '../harness.js';

const bench = useGateway({ config: { proof: { origin: 'llm.example.com/log' } } });

function saved(lines: readonly string[]): string {
  const file = join(mkdtempSync(join(tmpdir(), 'lodestone-audit-')), 'audit.ndjson');
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

const exported = async () => (await bench.gateway.admin('GET', '/export/audit')).text.trim().split('\n');
const verify = (lines: readonly string[]) =>
  runCommand(['log', 'verify', '--audit', saved(lines), '--url', bench.gateway.url]);

describe('an export of the audit log', () => {
  it('is checked by log verify --audit, which names what was removed, changed or added', async () => {
    const { gateway } = bench;
    const { accountId, keyId } = await gateway.createAccount();
    await gateway.admin('DELETE', `/accounts/${accountId}/keys/${keyId}`);
    await gateway.call('GET', '/admin/v1/audit', undefined, { key: 'a-wrong-admin-token' });
    // The refusal does not wait for its entry.
    await expect.poll(async () => (await exported()).join()).toContain('admin.refused');
    const lines = await exported();
    const rows = lines.slice(1).map((line) => JSON.parse(line));
    expect(JSON.parse(lines[0]!)).toEqual({
      type: 'lodestone-audit-export/1',
      origin: 'llm.example.com/log',
      hmac_key: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, i) => i + 1));
    const deleted = rows.findIndex(({ action }) => action === 'key.delete');
    expect(rows[deleted]).toMatchObject({
      ...{ type: 'lodestone-audit/1', actor: 'admin_token', account: accountId, subject: keyId },
      details: { account_id: accountId, address: '127.0.0.1' },
    });
    const refused = rows.find(({ action }) => action === 'admin.refused');
    expect([refused.subject, refused.clear]).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      { subject: '127.0.0.1' },
    ]);

    const whole = await verify(lines);
    expect([whole.code, whole.out]).toEqual([
      0,
      expect.stringContaining(`every entry of the audit log from 1 to ${rows.length}`),
    ]);
    const { seq } = rows[deleted];
    const without = await verify(lines.filter((_, i) => i !== deleted + 1));
    expect([without.code, without.out]).toEqual([1, expect.stringContaining(`Entry ${seq} is missing`)]);
    const changed = lines.with(deleted + 1, JSON.stringify({ ...rows[deleted], actor: 'system' }));
    const after = await verify(changed);
    expect([after.code, after.out]).toEqual([1, expect.stringContaining(`Entry ${seq} is not in the log`)]);
    const added = await verify([...lines, JSON.stringify({ ...rows[deleted], seq: rows.length + 1 })]);
    expect([added.code, added.out]).toEqual([1, expect.stringContaining(`Entry ${rows.length + 1} is not in the log`)]);
    expect((await runCommand(['log', 'verify', '--audit', '/no/such/file', gateway.url])).code).toBe(1);
  });
});

describe('GET /v1/audit', () => {
  it('shows an account its own entries, newest first and in pages, and of an operator no more than that', async () => {
    const { gateway } = bench;
    const other = await gateway.createAccount();
    const { accountId, key } = await gateway.createAccount();
    const manager = await gateway.admin('POST', `/accounts/${accountId}/keys`, { name: 'm', kind: 'management' });
    const managing = { key: manager.json.token as string };
    await gateway.call('PUT', '/v1/fallback', { fallback: { models: [] } }, { key });
    const all = await gateway.call('GET', '/v1/audit', undefined, managing);
    expect([all.status, all.json.object]).toEqual([200, 'list']);
    const entries = all.json.data as Json[];
    expect(entries[0]).toMatchObject({
      ...{ object: 'audit_entry', action: 'fallback.set', actor: `account:${accountId}`, account: accountId },
      ...{ by: expect.stringMatching(/^key:/), address: '127.0.0.1', seq: expect.any(Number) },
    });
    expect(entries[1]).toMatchObject({ action: 'key.create', actor: 'operator', by: null, address: null });
    expect(entries.every(({ account }) => account === accountId)).toBe(true);
    expect(all.text).not.toContain(other.accountId);
    const ids = (list: unknown) => (list as Json[]).map(({ id }) => id);
    const first = await gateway.call('GET', '/v1/audit?limit=2', undefined, managing);
    expect(ids(first.json.data)).toEqual(ids(entries.slice(0, 2)));
    const next = await gateway.call('GET', `/v1/audit?after=${entries[1]!.id}`, undefined, managing);
    expect(ids(next.json.data)).toEqual(ids(entries.slice(2)));
    for (const query of ['limit=0', 'limit=201', 'after=aud-none'])
      expect((await gateway.call('GET', `/v1/audit?${query}`, undefined, managing)).status).toBe(400);
    const refused = await gateway.call('GET', '/v1/audit', undefined, { key });
    expect([refused.status, refused.json.error.code]).toEqual([403, 'management_key_required']);
  });
});
