/**
 * A whole settlement as one message to PostgreSQL: lock the accounts, COPY the rows, move the sums. The server runs several
 * statements of one message as one transaction, so it costs a single exchange, and the rows go in as the journal wrote them.
 */
import pg, { type Connection, type PoolClient, type Submittable } from 'pg';
import { lineColumns } from '../../domain/settlement-line.js';
import { piecesOf, type SettlementRow } from '../../domain/settlement-row.js';
import { withoutNul } from './columns.js';

/** A record of an account that is not there: a fault of the record, not of the store. */
export class UnknownAccount extends Error {
  constructor(readonly accountIds: readonly string[]) {
    super(`No such account: ${accountIds.join(', ')}.`);
    this.name = 'UnknownAccount';
  }
}

const copyStatement = `copy lodestone.generations (${lineColumns.join(', ')}) from stdin`;

/** Where no transaction is open, it is one of its own. */
export function settleRows(client: PoolClient, rows: readonly SettlementRow[]): Promise<void> {
  const accounts = new Map<string, bigint>();
  const keys = new Map<string, bigint>();
  for (const { accountId, keyId, chargePico } of rows) {
    accounts.set(accountId, (accounts.get(accountId) ?? 0n) + chargePico);
    keys.set(keyId, (keys.get(keyId) ?? 0n) + chargePico);
  }
  const statement = `${lockStatement(accounts.keys())};${copyStatement};${chargeStatement(accounts, keys)}`;
  return new Promise((resolve, reject) => {
    const done = (error: Error | null) => (error ? reject(error) : resolve());
    client.query(new SettleQuery(statement, piecesOf(rows), new Set(accounts.keys()), done));
  });
}

/** Locks in the order of the ids, so that two settlements never wait for each other in a circle. */
export function lockStatement(accountIds: Iterable<string>): string {
  return `select * from lodestone.lock_accounts(${array(accountIds)})`;
}

/** A key may have been deleted meanwhile; its account pays all the same. */
function chargeStatement(accounts: Map<string, bigint>, keys: Map<string, bigint>): string {
  const sums = [accounts.keys(), accounts.values(), keys.keys(), keys.values()].map(array);
  return `select lodestone.charge(${sums.join(', ')})`;
}

/** As a literal, since a message of several statements takes no parameters. */
function array(values: Iterable<string | bigint>): string {
  let text = '';
  for (const value of values) {
    text += `${text === '' ? '' : ','}"${withoutNul(String(value)).replace(/["\\]/g, '\\$&')}"`;
  }
  return pg.escapeLiteral(`{${text}}`);
}

/** The part of the driver's connection that its published types leave out. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

/** What the driver calls on a query of its own while this one runs. */
class SettleQuery implements Submittable {
  #fault: Error | null = null;

  constructor(
    private readonly statement: string,
    private readonly pieces: readonly Buffer[],
    /** Those that the lock has not named yet. */
    private readonly unknown: Set<string>,
    /** Under this name the driver finds it, to end the query at its time limit. */
    public callback: (error: Error | null) => void,
  ) {}

  submit(connection: Connection): void {
    connection.query(this.statement);
  }

  handleRowDescription(): void {}

  handleDataRow({ fields }: { fields: readonly string[] }): void {
    this.unknown.delete(fields[0]!);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    if (this.unknown.size > 0) {
      this.#fault = new UnknownAccount([...this.unknown]);
      connection.sendCopyFail('unknown account');
    } else {
      for (const piece of this.pieces) connection.sendCopyFromChunk(piece);
      connection.endCopyFrom();
    }
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.callback(this.#fault ?? error);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }
}
