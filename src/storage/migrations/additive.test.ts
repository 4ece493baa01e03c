/**
 * Several versions run on one database during an upgrade, so a migration may only add what an older version can do without.
 */
import { describe, expect, it } from 'vitest';
import { type Migration, migrations } from './index.js';

/** How statements begin that break the rule for a reason, by migration, with how a running version handles them. */
const allowed: Record<string, readonly string[]> = {
  // An older version does not find sessions whose tokens are hashed, so its users sign in again.
  '0006-sessions': ["update lodestone.sign_in_sessions set token = encode(sha256(convert_to(token, 'utf8')), 'hex')"],
  '0009-rollups': [
    // An older version writes its rows without the column, and the newer one finds them by the default.
    "alter table lodestone.generations alter column rolled_up set default coalesce(current_setting('lodestone.rolls_up', true) = 'on', false)",
    // An older version shows a statement as an entry of usage.
    'alter table lodestone.ledger_posts drop constraint ledger_posts_kind_check',
  ],
  // The table of the same name takes and gives the same rows; the table of before is its first partition.
  '0010-partitions': ['do $$ declare ends text; begin', 'create or replace view lodestone.ledger as'],
  // Only attaches the index that was built before.
  '0011-late-rows': ['create index generations_late on lodestone.generations'],
  // The same columns; one that was always `chat` now has what the row says.
  '0013-door': ['create or replace view lodestone.generation_usage as'],
  // An older version writes its rows without the column, and a trigger queues them.
  '0014-log': ['alter table lodestone.generations alter column log_batch set default nullif(current_setting('],
  // The table of the same name takes and gives the same rows; the table of before is its partition for hours.
  '0018-rollup-days': ['do $$ begin alter table lodestone.usage_rollups rename to usage_rollups_hours'],
  // An older version shows the kind as it is. What it posts itself as usage gets the newer kind from the trigger, before the check.
  '0020-statements': [
    "update lodestone.ledger_posts set kind = 'statement' where kind = 'usage'",
    'create trigger ledger_post_statement before insert on lodestone.ledger_posts',
    'alter table lodestone.ledger_posts add constraint ledger_posts_kind check',
  ],
  // The same function with another lock.
  '0021-late-rows-lock': ['create or replace function lodestone.roll_up_late('],
  // The same function, which adds to the coarser sums too, so that an older version does as well.
  '0022-usage-sums': ['create or replace function lodestone.add_usage('],
  // An older version signs up people with an account only, and deletes no account.
  '0025-organisations': [
    'alter table lodestone.sign_in_users drop constraint sign_in_users_id_fkey',
    'alter table lodestone.password_resets drop constraint password_resets_account_id_fkey',
  ],
  // Whoever adds to the rollups waits for as long as the migration runs. The same function, which adds to the days of projects too.
  '0027-budgets': [
    'lock table lodestone.usage_rollups in share mode',
    'create or replace function lodestone.add_usage(',
  ],
  // Only fills the columns that are new, and the trigger numbers the entries of an older version too. No entry may come in between, and
  // nothing waits for one to be written.
  '0032-audit-log': [
    'update lodestone.audit a set seq = n.seq, account_id = lodestone.audit_account(',
    'create unique index audit_seq on lodestone.audit',
    'create index audit_account_id on lodestone.audit',
    'create index audit_unsealed on lodestone.audit',
    'create trigger audit_number before insert on lodestone.audit',
    'insert into lodestone.audit (id, created_at, actor, action, subject, details)',
  ],
  // The same function, which also counts what an older version does not write.
  '0036-own-credentials': ['create or replace function lodestone.add_project_days('],
  '0041-own-served': ['create or replace function lodestone.add_project_days('],
  // Only keeps the index that was built before.
  '0044-keys-in-order': ['create index if not exists keys_in_order on lodestone.keys'],
  // The same columns, and two more at the end.
  // The same function, which also sums the list price.
  '0049-own-usage': ['create or replace function lodestone.add_project_days('],
  '0046-usage-of-people': ['create or replace view lodestone.generation_usage as'],
};

/** The parts of a migration that could break a version that does not know it. */
function faultsOf({ name, sql }: Migration): string[] {
  const statements = statementsOf(sql);
  const made = new Set(statements.flatMap((statement) => /^create table (\S+)/.exec(statement)?.[1] ?? []));
  return statements.filter(
    (statement) => !adds(statement, made) && !allowed[name]?.some((start) => statement.startsWith(start)),
  );
}

/** Statements without comments, in one line each. A function's body is part of its statement. */
function statementsOf(sql: string): string[] {
  const plain = sql.replace(/--.*$/gm, '');
  const pieces = plain.match(/(?:\$\$[\s\S]*?\$\$|[^;])+/g) ?? [];
  return pieces.map((piece) => piece.replace(/\s+/g, ' ').trim().toLowerCase()).filter((piece) => piece !== '');
}

function adds(statement: string, made: ReadonlySet<string>): boolean {
  if (/^create ((unlogged )?table|sequence|view|function|type) /.test(statement)) return true;
  // A trigger after a change cannot alter it; a trigger before it can.
  if (/^create trigger \S+ after /.test(statement)) return true;
  const index = /^create (unique )?index \S+ on (\S+) (using brin )?/.exec(statement);
  // On a table in use, a unique index may refuse what was allowed, and any index that reads every row delays writers.
  if (index) return made.has(index[2]!) || (index[1] === undefined && index[3] !== undefined);
  const storage = /^alter table (\S+) alter column \S+ set storage \w+$/.exec(statement);
  if (storage) return made.has(storage[1]!);
  const insert = /^insert into (\S+) /.exec(statement);
  if (insert) return made.has(insert[1]!);
  const [, columns = ''] = /^alter table \S+ (add column .*)$/.exec(statement) ?? [];
  return columns.split(/, (?=[a-z]+ column )/).every(isHarmlessColumn);
}

/** An older version inserts rows without the column. */
function isHarmlessColumn(column: string): boolean {
  if (!/^add column /.test(column) || /\b(unique|primary key|references|check|generated)\b/.test(column)) return false;
  return !/\bnot null\b/.test(column) || /\bdefault\b/.test(column);
}

describe('migrations only add, so that versions can run side by side (rolling upgrade)', () => {
  it.each(migrations)('$name', (migration) => {
    expect(faultsOf(migration)).toEqual([]);
  });

  it('have names that sort in the order of the list', () => {
    const names = migrations.map(({ name }) => name);
    expect([...names].sort()).toEqual(names);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each([
    'drop table lodestone.accounts',
    'insert into lodestone.accounts default values',
    'alter table lodestone.accounts drop column name',
    'alter table lodestone.accounts rename column name to title',
    'alter table lodestone.accounts rename to customers',
    'alter table lodestone.accounts alter column name type varchar(10)',
    'alter table lodestone.accounts alter column name set not null',
    'alter table lodestone.accounts add column size bigint not null',
    'alter table lodestone.accounts add column size bigint, drop column name',
    'alter table lodestone.accounts add column size bigint unique',
    'alter table lodestone.accounts add constraint small check (id < 5)',
    'create or replace function lodestone.charge() returns void language sql as $$ select 1; $$',
    'create or replace view lodestone.ledger as select 1',
    'create trigger t before insert on lodestone.accounts for each row execute function lodestone.f()',
    'create unique index i on lodestone.accounts (name)',
    'create index i on lodestone.generations (provider)',
    'update lodestone.accounts set name = null',
    'delete from lodestone.accounts',
    'truncate lodestone.audit',
  ])('and this is no addition: %s', (sql) => {
    expect(faultsOf({ name: 'x', sql: `create table lodestone.t (id text);\n${sql};` })).toHaveLength(1);
  });

  it.each([
    'alter table lodestone.accounts add column a text, add column b bigint not null default 0',
    'create index i on lodestone.generations using brin (created_ms)',
    'create table lodestone.t (id text); create unique index i on lodestone.t (id)',
    '-- drop table lodestone.accounts;\ncreate function lodestone.f() returns void language plpgsql as $$ begin; drop table x; end $$',
  ])('and this is one: %s', (sql) => {
    expect(faultsOf({ name: 'x', sql })).toEqual([]);
  });
});
