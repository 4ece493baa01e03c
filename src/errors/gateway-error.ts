/** One row of the error table with its values: the only thing that a stage throws for a caller to see. */

import { type Condition, errorTable, type ValuesOf } from './error-table.js';
import type { ErrorRow } from './row.js';

/** §2.6: what an auto-routed failure tells about the walk. */
export interface Receipt {
  providers_attempted: string[];
  breaker_skipped: string[];
  candidates_remaining: number;
  last_error: string;
}

export interface ErrorExtras {
  receipt?: Receipt;
  retryAfterSeconds?: number;
  headers?: Record<string, string>;
}

export class GatewayError extends Error {
  readonly row: ErrorRow<never>;
  readonly param: string | undefined;

  constructor(
    readonly condition: Condition,
    /** Kept so that the error can cross a thread and be made again there. */
    readonly values: unknown,
    readonly extras: ErrorExtras = {},
  ) {
    const row = errorTable[condition] as unknown as ErrorRow<unknown>;
    super(row.message(values));
    this.name = 'GatewayError';
    this.row = row as ErrorRow<never>;
    this.param = row.param ?? (values as { param?: string } | undefined)?.param;
  }

  get status(): number {
    return this.row.status;
  }
}

/** Makes the error of a condition; the values are checked against the row's own. */
export function gatewayError<C extends Condition>(
  condition: C,
  ...rest: Record<string, never> extends ValuesOf<C>
    ? [values?: undefined, extras?: ErrorExtras]
    : [values: ValuesOf<C>, extras?: ErrorExtras]
): GatewayError {
  return new GatewayError(condition, rest[0] ?? {}, rest[1]);
}
