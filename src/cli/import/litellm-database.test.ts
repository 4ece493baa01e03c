import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { asOwner, databaseUrlOf } from '../../../tests/support/postgres.js';
import { main } from '../cli.js';
import { CatalogueBook } from './catalogue-book.js';
import { Groups, type ModelEntries } from './entries.js';
import { readLitellmModels, readLitellmRows, reportOtherTables } from './litellm-database.js';
import { finishNames } from './litellm-names.js';
import { planPeople } from './litellm-people.js';
import { Plan } from './plan.js';
import { ImportReport } from './report.js';

/** The columns that the import reads, as LiteLLM names them. */
const limits =
  'max_budget float8, budget_duration text, budget_reset_at timestamp, rpm_limit int8, tpm_limit int8, max_parallel_requests int';
const schema = `
create table "LiteLLM_BudgetTable" (budget_id text primary key, ${limits});
create table "LiteLLM_OrganizationTable" (organization_id text primary key, organization_alias text, budget_id text, spend float8, models text[]);
create table "LiteLLM_OrganizationMembership" (user_id text, organization_id text, user_role text);
create table "LiteLLM_TeamTable" (team_id text primary key, team_alias text, organization_id text, spend float8, models text[], members_with_roles jsonb, blocked bool, ${limits});
create table "LiteLLM_UserTable" (user_id text primary key, user_email text, user_role text, teams text[], ${limits}, models text[]);
create table "LiteLLM_VerificationToken" (token text primary key, key_name text, key_alias text, spend float8, expires timestamp, models text[], user_id text, team_id text, organization_id text, budget_id text, blocked bool, allowed_routes text[], ${limits});
create table "LiteLLM_ProxyModelTable" (model_id text primary key, model_name text, litellm_params jsonb, model_info jsonb, blocked bool);
create table "LiteLLM_TeamMembership" (user_id text, team_id text, spend float8, budget_id text);
create table "LiteLLM_Config" (param_name text primary key, param_value jsonb);
create table "LiteLLM_EndUserTable" (user_id text primary key, budget_id text, blocked bool);
create table "LiteLLM_CredentialsTable" (credential_id text primary key, credential_name text, credential_values jsonb);
`;
const rows = `
insert into "LiteLLM_BudgetTable" values ('b', 100.1, '30d', '2026-12-01', 60);
insert into "LiteLLM_OrganizationTable" values ('o', 'Acme GmbH', 'b', 0.3, '{}');
insert into "LiteLLM_OrganizationMembership" values ('u2', 'o', 'org_admin');
insert into "LiteLLM_TeamTable" values ('t1', 'search', 'o', 1.25, '{mine}', '[{"user_id": "u3"}]', false, 50, '7d'), ('t2', 'search', 'o', 0, '{}', '[]', true, null, null);
insert into "LiteLLM_UserTable" values ('u1', 'Ann@example.com', 'proxy_admin', '{}'), ('u2', 'bob@example.com', 'internal_user', '{}'), ('u3', 'cy@example.com', 'internal_user', '{}'), ('u4', null, 'internal_user', '{}');
`;

const owner = inject('postgres');
const database = `litellm_${randomBytes(6).toString('hex')}`;
const url = databaseUrlOf({ ...owner, database });
const client = new pg.Client({ ...owner, database });
const hash = (token: string) => createHash('sha256').update(token).digest('hex');

function sealed(text: string, key: string): string {
  const nonce = randomBytes(24);
  const box = xsalsa20poly1305(createHash('sha256').update(key).digest(), nonce).encrypt(Buffer.from(text));
  return Buffer.concat([nonce, box]).toString('base64url');
}

let cwd: string;
let book: CatalogueBook;
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'lodestone-litellm-'));
  writeFileSync(
    join(cwd, 'base.yaml'),
    'providers: [{ id: openai, base_url: "https://api.openai.com/v1" }]\nmodels: [{ creator: openai, model: gpt-4o, routes: [{ provider: openai, locode: global }] }]\n',
  );
  book = await CatalogueBook.read([join(cwd, 'base.yaml')]);
  await asOwner(owner, `create database ${database}`);
  await client.connect();
  await client.query(schema + rows);
  const models = [
    { model: sealed('openai/gpt-4o', 'salt'), api_key: sealed('sk-of-the-model', 'salt') },
    { model: sealed('openai/gpt-4o', 'salt'), litellm_credential_name: sealed('shared', 'salt') },
  ];
  for (const [n, params] of models.entries()) {
    const name = ['mine', 'other'][n];
    const info = n === 0 ? { access_groups: ['beta'] } : {};
    await client.query('insert into "LiteLLM_ProxyModelTable" values ($1, $2, $3, $4)', [n, name, params, info]);
  }
  await client.query(
    `insert into "LiteLLM_ProxyModelTable" values ('blocked', 'blocked', '{"model": "gpt-4o"}', '{}', true)`,
  );
  const values = { api_key: sealed('sk-of-the-model', 'salt') };
  await client.query('insert into "LiteLLM_CredentialsTable" values ($1, $2, $3)', ['c', 'shared', values]);
});
afterAll(async () => {
  await client.end();
  await asOwner(owner, `drop database if exists ${database} with (force)`);
  rmSync(cwd, { recursive: true });
});
const emptied = ['VerificationToken', 'TeamMembership', 'EndUserTable', 'Config'];
beforeEach(() => client.query(emptied.map((table) => `delete from "LiteLLM_${table}"`).join(';')));

async function addKey(token: string, more: Record<string, unknown>): Promise<void> {
  const row = { token: hash(token), key_name: `sk-...${token.slice(-4)}`, spend: 0, models: [], ...more };
  const columns = Object.keys(row);
  const values = columns.map((_, index) => `$${index + 1}`);
  await client.query(`insert into "LiteLLM_VerificationToken" (${columns}) values (${values})`, Object.values(row));
}

async function planned(salt: string | null = 'salt') {
  const into: ModelEntries = {
    ...{ plan: new Plan('litellm'), book, report: new ImportReport(), today: '2026-11-18', env: {} },
    ...{ claimed: new Map(), placed: new Map(), covered: new Map(), credentials: new Map(), groups: new Groups() },
    takenNames: new Set(),
    defaultFault: () => null,
  };
  const found = await readLitellmRows(url);
  readLitellmModels(into, found, salt);
  finishNames(into);
  planPeople(found, into.plan, into.report, Date.parse('2026-11-18T00:00:00Z'));
  reportOtherTables(into.report, found);
  const lines = new Map(into.report.lines.map((line) => [line.field.replace('database LiteLLM_', ''), line]));
  return { plan: into.plan, lines };
}

describe('the import from LiteLLM’s database', () => {
  it('organisations, teams and users become accounts, projects and people with their budgets', async () => {
    const { plan } = await planned();
    expect(plan.accounts).toEqual([
      { id: 'o', alias: 'acme-gmbh', budget: { limit_usd: '100.1', period: 'monthly' }, openingUsd: '0.3' },
    ]);
    expect(plan.projects.map(({ name, account }) => [name, account])).toEqual([
      ['search', 'o'],
      ['search (2)', 'o'],
    ]);
    expect(plan.people.map(({ email, memberships }) => [email, memberships])).toEqual([
      ['ann@example.com', [{ account: null, role: 'owner', projects: null }]],
      ['bob@example.com', [{ account: 'o', role: 'admin', projects: null }]],
      ['cy@example.com', [{ account: 'o', role: 'developer', projects: ['t1'] }]],
    ]);
  });

  it('a key keeps its hash, its cap, its spend and its limits', async () => {
    await addKey('sk-one', { key_alias: 'one', spend: 0.1, max_budget: 12.34, budget_duration: '1d', rpm_limit: 10 });
    await addKey('sk-two', { budget_id: 'b', expires: '2027-01-01T00:00:00Z', user_id: 'u2', organization_id: 'o' });
    await addKey('sk-three', { user_id: 'u2' });
    const { plan } = await planned();
    const [one, two] = ['sk-one', 'sk-two'].map((token) => plan.keys.find(({ sha256 }) => sha256 === hash(token)));
    expect(one).toMatchObject({ name: 'one', limitUsd: '12.34', limitReset: 'daily', openingUsd: '0.1' });
    expect(one).toMatchObject({ requestsPerMinute: 10, tokensPerMinute: null, expiresAt: null, lastFour: '-one' });
    expect(two).toMatchObject({ limitUsd: '100.1', limitReset: 'monthly', requestsPerMinute: 60, holder: 'u2' });
    expect(two?.expiresAt).toContain('2027-01-01');
    // Who is not in the account of a key cannot hold it.
    expect(plan.keys.find(({ sha256 }) => sha256 === hash('sk-three'))).toMatchObject({ account: null, holder: null });
  });

  it('a key of a team has no more than its team: its models, and nothing where the team is blocked', async () => {
    await addKey('sk-of-team', { team_id: 't1' });
    await addKey('sk-blocked', { team_id: 't2' });
    const { plan } = await planned();
    expect(plan.keys.find(({ project }) => project === 't1')).toMatchObject({
      allowedModels: ['mine'],
      disabled: false,
    });
    expect(plan.keys.find(({ project }) => project === 't2')).toMatchObject({ allowedModels: null, disabled: true });
  });

  it('a key is limited to what its team or its user may use, too, and a group of models is its names', async () => {
    await client.query(`update "LiteLLM_UserTable" set models = '{mine}' where user_id = 'u4'`);
    await addKey('sk-own', { user_id: 'u4' });
    await addKey('sk-both', { user_id: 'u4', models: ['mine', 'other'] });
    await addKey('sk-more', { team_id: 't1', models: ['other'] });
    await addKey('sk-group', { models: ['beta'] });
    const { plan, lines } = await planned();
    const allowed = (token: string) => plan.keys.find(({ sha256 }) => sha256 === hash(token))?.allowedModels;
    expect(['sk-own', 'sk-both', 'sk-more', 'sk-group'].map(allowed)).toEqual([
      ['mine'],
      ['mine'],
      undefined,
      ['mine'],
    ]);
    expect(lines.get('UserTable[3].models')?.verdict).toBe('changed');
    await client.query(`update "LiteLLM_UserTable" set models = null`);
  });

  it('budgets, memberships, settings and tables that are not read have lines, and a blocked model stays blocked', async () => {
    await client.query(`
      insert into "LiteLLM_TeamMembership" values ('u3', 't2', 0, 'b');
      insert into "LiteLLM_EndUserTable" values ('e1', 'b', false), ('e2', null, false);
      update "LiteLLM_UserTable" set rpm_limit = 5 where user_id = 'u4';
      insert into "LiteLLM_Config" values ('router_settings', '{"fallbacks": [{"mine": ["other"]}], "timeout": 5}'), ('reload', '{}');
    `);
    const env = { environment_variables: { REDIS_HOST: sealed('cache.example.com', 'salt') } };
    await client.query('insert into "LiteLLM_Config" values ($1, $2)', [
      'environment_variables',
      env.environment_variables,
    ]);
    const { plan, lines } = await planned();
    const verdictOf = (field: string) => lines.get(field)?.verdict;
    expect(lines.get('BudgetTable[0]')?.words).toContain('max_budget');
    expect(verdictOf('OrganizationMembership[0]')).toBe('taken');
    expect(verdictOf('TeamMembership[0].budget_id')).toBe('not taken');
    expect(lines.get('EndUserTable')?.words).toMatch(/^1 rows/);
    expect(verdictOf('UserTable[3].rpm_limit')).toBe('not taken');
    expect(verdictOf('Config router_settings.timeout')).toBe('not taken');
    expect(verdictOf('Config router_settings.fallbacks[0].mine[0]')).toBe('taken');
    expect(verdictOf('Config reload')).toBe('changed');
    expect(plan.secrets.get('REDIS_HOST')).toBe('cache.example.com');
    expect(verdictOf('ProxyModelTable[2]')).toBe('not taken');
    expect(plan.names.has('blocked')).toBe(false);
    expect(plan.people.find(({ id }) => id === 'u3')?.memberships[0]?.projects).toEqual(['t1', 't2']);
  });

  it('a key whose models were not imported, and one that has expired, are not taken', async () => {
    await addKey('sk-a', { models: ['nowhere'] });
    await addKey('sk-b', { expires: '2026-01-01T00:00:00Z' });
    await addKey('sk-c', { models: ['mi*', 'nowhere'], allowed_routes: ['/x'], max_parallel_requests: 2 });
    // Old versions kept the token itself.
    await addKey('sk-d', { token: 'sk-no-hash', key_alias: 'sk-no-hash' });
    const { plan, lines } = await planned();
    expect(plan.keys.map(({ allowedModels }) => allowedModels)).toEqual([['mine']]);
    const not = [...lines.values()].filter(({ field, verdict }) => /Token/.test(field) && verdict === 'not taken');
    expect(not).toHaveLength(7);
    expect(JSON.stringify([...lines.values()])).not.toContain('sk-no-hash');
  });

  it('encrypted values are opened with the salt key, and not taken without it', async () => {
    const { plan } = await planned();
    expect([...plan.names.keys()]).toEqual(['mine', 'other']);
    expect([...plan.secrets]).toEqual([['OPENAI_API_KEY', 'sk-of-the-model']]);
    const without = await planned(null);
    expect([...without.plan.names.keys()]).toEqual([]);
    expect(without.lines.get('ProxyModelTable[0].litellm_params.api_key')).toMatchObject({ verdict: 'not taken' });
    expect((await planned('another')).plan.secrets.size).toBe(0);
  });

  it('a database that is not LiteLLM’s, or that cannot be read, ends with 1 and shows no password', async () => {
    writeFileSync(join(cwd, 'c.yaml'), 'model_list: []\n');
    writeFileSync(join(cwd, 'lodestone.yaml'), 'catalogue: [base.yaml]\n');
    const faults: string[] = [];
    const io = { out: () => {}, err: (line: string) => void faults.push(line), env: {}, cwd };
    const other = databaseUrlOf({ ...owner, database: 'postgres' });
    for (const address of [other, 'postgresql://u:hidden-word@127.0.0.1:1/x', 'no address: hidden-word']) {
      expect(await main(['import', 'litellm', 'c.yaml', '--out', 'made', '--database-url', address], io)).toBe(1);
    }
    expect(faults.join('\n')).not.toContain('hidden-word');
    expect(() => readFileSync(join(cwd, 'made/report.md'))).toThrow();
  });

  it('a database that ends in the middle, or whose tables may not be read, ends with 1 and leaves no file', async () => {
    writeFileSync(join(cwd, 'c.yaml'), 'model_list: []\n');
    writeFileSync(join(cwd, 'lodestone.yaml'), 'catalogue: [base.yaml]\n');
    await client.query(
      `insert into "LiteLLM_EndUserTable" select 'e' || n, 'b', false from generate_series(1, 20) n;
       insert into "LiteLLM_VerificationToken" (token, key_alias) select md5(n::text) || md5(n::text), 'k' from generate_series(1, 3000) n;
       drop role if exists reader; create role reader; grant select on "LiteLLM_TeamTable" to reader`,
    );
    const faults: string[] = [];
    const io = { out: () => {}, err: (line: string) => void faults.push(line), env: {}, cwd };
    const read = (address: string) =>
      main(['import', 'litellm', 'c.yaml', '--out', 'cut', '--database-url', address], io);
    for (const bytes of [2_000, 60_000]) {
      const cut = await cutAfter(bytes);
      const address = databaseUrlOf({ ...owner, database, host: '127.0.0.1', port: cut.port });
      expect([bytes, await read(address)]).toEqual([bytes, 1]);
      cut.server.close();
    }
    expect(await read(`${url}&options=${encodeURIComponent('-c role=reader')}`)).toBe(1);
    expect(faults).toEqual(Array(3).fill(expect.stringContaining('Nothing was changed')));
    expect(faults[2]).toContain('its user may not read it');
    expect(existsSync(join(cwd, 'cut'))).toBe(false);
    await client.query('drop owned by reader; drop role reader');
  });
});

/** A way to the server that breaks when it has let so many bytes of its answers pass. */
async function cutAfter(bytes: number): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => {
    const upstream = connect(`${owner.host}/.s.PGSQL.${owner.port}`);
    let left = bytes;
    socket.on('data', (data) => upstream.write(data));
    upstream.on('data', (data) => {
      left -= data.length;
      if (left > 0) return void socket.write(data);
      socket.destroy();
      upstream.destroy();
    });
    for (const each of [socket, upstream]) each.on('error', () => {}).on('close', () => socket.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}
