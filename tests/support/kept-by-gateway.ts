/** What a gateway keeps: its log as it would be written, its database, its journal. Searched for secrets when the gateway is done. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import type { Logger } from '../../src/base/logger.js';
import { noteErrors, searchKept } from './secrets.js';

/** A logger that keeps every line, down to the finest level, as production would write it; `also` is told as well. */
export function keptLog(also?: Logger): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const written = pino({ level: 'debug', base: null }, { write: (line) => void lines.push(line) });
  const level = (name: keyof Logger) => (fields: object, message: string) => {
    written[name](fields, message);
    also?.[name](fields, message);
  };
  return {
    lines,
    logger: { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') },
  };
}

/** Throws where a secret was kept. To be called when the gateway has stopped and its database is still there. */
export async function searchAtRest(dataDir: string, databaseUrl: string | null): Promise<void> {
  noteErrors();
  searchKept('journal', 'the journal', journalOf(dataDir));
  if (databaseUrl !== null) searchKept('database', 'the database', await rowsOf(databaseUrl));
}

function journalOf(dataDir: string): string[] {
  if (!existsSync(dataDir)) return [];
  const folders = readdirSync(dataDir).filter((name) => /^journal(-\d+)?$/.test(name));
  return folders.flatMap((folder) => {
    const files = readdirSync(join(dataDir, folder), { withFileTypes: true }).filter((entry) => entry.isFile());
    return files.map(({ name }) => readFileSync(join(dataDir, folder, name), 'latin1'));
  });
}

/** Every row of every table, as text. */
export async function rowsOf(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    if (tables.rows.length === 0) return [];
    // In one statement: there are dozens of tables, and hundreds of gateways in a run.
    const all = tables.rows.map(({ name }) => `select t::text as row from ${name} t`).join(' union all ');
    return (await client.query<{ row: string }>(all)).rows.map(({ row }) => row);
  } finally {
    await client.end();
  }
}
