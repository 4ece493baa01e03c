/** Reads LiteLLM's PostgreSQL, in one read-only transaction: organisations, teams, users, budgets, keys, models and credentials. */
import pg from 'pg';
import { CommandFailure } from '../io.js';
import type { ModelEntries } from './entries.js';
import { readLitellmConfig } from './litellm-config.js';
import { readEntry } from './litellm-names.js';
import type { ImportReport } from './report.js';
import { openBox } from './secretbox.js';
import { type Fields, fieldsOf } from './values.js';

export interface LitellmRows {
  readonly organisations: Fields[];
  readonly organisationMembers: Fields[];
  readonly teams: Fields[];
  readonly teamMembers: Fields[];
  readonly users: Fields[];
  readonly budgets: Fields[];
  readonly keys: Fields[];
  readonly models: Fields[];
  readonly credentials: Fields[];
  /** Settings that were made in LiteLLM's own dashboard, by section. */
  readonly settings: Fields[];
  /** How many rows other tables have that mean something to an operator. */
  readonly others: Fields[];
}

type Table = Exclude<keyof LitellmRows, 'others'>;
const tables: Record<Table, string> = {
  organisations: 'LiteLLM_OrganizationTable',
  organisationMembers: 'LiteLLM_OrganizationMembership',
  teams: 'LiteLLM_TeamTable',
  teamMembers: 'LiteLLM_TeamMembership',
  users: 'LiteLLM_UserTable',
  budgets: 'LiteLLM_BudgetTable',
  keys: 'LiteLLM_VerificationToken',
  models: 'LiteLLM_ProxyModelTable',
  credentials: 'LiteLLM_CredentialsTable',
  settings: 'LiteLLM_Config',
};
const needed: readonly Table[] = ['teams', 'users', 'keys'];

/** Tables that are not read, with what their rows mean and which of them count. */
const otherTables: Record<string, { words: string; only?: string }> = {
  LiteLLM_EndUserTable: {
    words: 'an end user is the `user` of a request and has no limits: give one that needs them a key',
    only: 'budget_id is not null or blocked',
  },
  LiteLLM_DeprecatedVerificationToken: {
    words: 'the old tokens of rotated keys end: let their owners take the new ones',
    only: 'revoke_at > now()',
  },
  LiteLLM_MCPServerTable: { words: 'tools of MCP servers are called by the client or the provider' },
  LiteLLM_GuardrailsTable: { words: 'a gateway that changes answers could not prove what was delivered' },
  LiteLLM_PromptTable: { words: 'prompts are kept by the client' },
};

/** Times as text in UTC, because the columns have no zone. */
const types = { getTypeParser: (oid: number, format?: 'text') => parserOf(oid) ?? pg.types.getTypeParser(oid, format) };
function parserOf(oid: number): ((text: string) => unknown) | undefined {
  return oid === 1114 ? (text) => `${text.replace(' ', 'T')}Z` : undefined;
}

export async function readLitellmRows(url: string): Promise<LitellmRows> {
  const client = new pg.Client({
    connectionString: url,
    types: types as pg.CustomTypesConfig,
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('begin transaction isolation level repeatable read, read only');
    const there = await client.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = any (current_schemas(false)) and table_name = any ($1)`,
      [[...Object.values(tables), ...Object.keys(otherTables)]],
    );
    const names = new Set(there.rows.map(({ name }) => name));
    const missing = needed.filter((table) => !names.has(tables[table])).map((table) => tables[table]);
    if (missing.length > 0) {
      throw new CommandFailure(
        `The database has no table ${missing.join(' and ')}: it is not LiteLLM's, of a version that is not known, or its user may not read it. Nothing was changed.`,
      );
    }
    const rows = {} as Record<Table, Fields[]>;
    for (const [key, table] of Object.entries(tables) as [Table, string][]) {
      rows[key] = names.has(table) ? (await client.query<Fields>(`select * from "${table}" order by 1`)).rows : [];
    }
    const others: Fields[] = [];
    for (const [table, { only = 'true' }] of Object.entries(otherTables)) {
      if (!names.has(table)) continue;
      const found = await client.query<Fields>(`select count(*)::int as count from "${table}" where ${only}`);
      others.push({ table, count: found.rows[0]!.count });
    }
    await client.query('commit');
    return { ...rows, others };
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(
      `LiteLLM's database cannot be read: ${withoutUrl((error as Error).message, url)}. Nothing was changed.`,
    );
  } finally {
    await client.end().catch(() => {});
  }
}

/** The address has a password in it. */
function withoutUrl(message: string, url: string): string {
  const password = URL.canParse(url) ? decodeURIComponent(new URL(url).password) : '';
  const plain = message.replaceAll(url, 'the address');
  return password === '' ? plain : plain.replaceAll(password, '…');
}

/** The credentials and models of the database: encrypted values are opened where the key is known. */
export function readLitellmModels(into: ModelEntries, rows: LitellmRows, key: string | null): void {
  readStoredSettings(into, rows, key);
  for (const [index, row] of rows.credentials.entries()) {
    const path = `database ${tables.credentials}[${index}]`;
    const values = openedFields(into, fieldsOf(row.credential_values), key, `${path}.credential_values`);
    into.credentials.set(String(row.credential_name), values);
    into.report.taken(path, 'its values go to the providers of the models that name it');
  }
  const opened = rows.models.flatMap((row, index) => {
    const path = `database ${tables.models}[${index}]`;
    if (row.blocked === true) {
      into.report.notTaken(path, `"${String(row.model_name).slice(0, 100)}" is blocked: allow it, and run this again`);
      return [];
    }
    const litellm_params = openedFields(into, fieldsOf(row.litellm_params), key, `${path}.litellm_params`);
    return { entry: { model_name: row.model_name, litellm_params, model_info: row.model_info }, path };
  });
  into.plan.noteVariables(JSON.stringify(opened));
  for (const { entry, path } of opened) readEntry(into, entry, path);
}

const storedSections = ['litellm_settings', 'router_settings', 'general_settings', 'environment_variables'];

/** Settings that were made in the dashboard of LiteLLM are read as those of a file. */
function readStoredSettings(into: ModelEntries, { settings }: LitellmRows, key: string | null): void {
  const found: Fields = {};
  for (const { param_name, param_value } of settings) {
    const name = String(param_name);
    const path = `database ${tables.settings} ${name}`;
    if (!storedSections.includes(name)) into.report.changed(path, 'left out: LiteLLM keeps it for itself');
    else if (name !== 'environment_variables') found[name] = param_value;
    else found[name] = openedFields(into, fieldsOf(param_value), key, path);
  }
  readLitellmConfig(into, found, `database ${tables.settings}`);
}

/** One line for each table that has rows which are not read. */
export function reportOtherTables(report: ImportReport, rows: LitellmRows): void {
  for (const { table, count } of rows.others) {
    if (Number(count) > 0) report.notTaken(`database ${table}`, `${count} rows: ${otherTables[String(table)]!.words}`);
  }
}

function openedFields({ report }: ModelEntries, sealed: Fields, key: string | null, path: string): Fields {
  const fields: Fields = {};
  for (const [name, value] of Object.entries(sealed)) {
    const opened = typeof value !== 'string' || key === null ? null : openBox(value, key);
    if (opened !== null) fields[name] = opened;
    else if (typeof value !== 'string' || !looksSealed(value)) fields[name] = value;
    else {
      report.notTaken(
        `${path}.${name}`,
        'it is encrypted: give LiteLLM’s salt key in LITELLM_SALT_KEY, or its master key in LITELLM_MASTER_KEY',
      );
    }
  }
  return fields;
}

/** Base64 of a nonce, a tag and at least one byte. */
function looksSealed(value: string): boolean {
  return value.length >= 56 && /^[A-Za-z0-9+/_-]+={0,2}$/.test(value);
}
