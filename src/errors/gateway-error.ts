/** An error that a client sees: one row of the error table with its values. Stages throw nothing else for a client. */

import { type Condition, errorTable, type ValuesOf } from './error-table.js';
import type { ErrorRow } from './row.js';

/** The walk's result in the error of an `auto/` request. */
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
  /** `error.details`, for clients that read them. */
  details?: object;
}

export class GatewayError extends Error {
  /** The body of the answer in the form of the client's API; absent = OpenAI's. */
  body: string | undefined;
  readonly row: ErrorRow<never>;
  readonly param: string | undefined;

  constructor(
    readonly condition: Condition,
    /** Kept so that another thread can make the same error again. */
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

/** Makes the error of a condition. The compiler checks the values against the row. */
export function gatewayError<C extends Condition>(
  condition: C,
  ...rest: Record<string, never> extends ValuesOf<C>
    ? [values?: undefined, extras?: ErrorExtras]
    : [values: ValuesOf<C>, extras?: ErrorExtras]
): GatewayError {
  return new GatewayError(condition, rest[0] ?? {}, rest[1]);
}
