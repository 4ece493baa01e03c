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

interface ErrorExtras {
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
    const message = row.message(values);
    // It is an answer and no fault: nobody reads where it was made, and to note that costs more than to write the answer.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'GatewayError';
    this.row = row as ErrorRow<never>;
    this.param = row.param ?? (values as { param?: string } | undefined)?.param;
  }

  get status(): number {
    return this.row.status;
  }
}

/** What of an error goes from one thread to another. */
type ThreadError = { readonly condition: Condition; readonly values: unknown } | string;

export function threadErrorOf(error: unknown): ThreadError {
  return error instanceof GatewayError ? { condition: error.condition, values: error.values } : String(error);
}

/** The error that another thread has thrown for a client; null where it was another one, or the thread was lost. */
export function errorOfThread(error: unknown): GatewayError | null {
  const { condition, values } = (error ?? {}) as { condition?: Condition; values?: unknown };
  return condition === undefined ? null : new GatewayError(condition, values);
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
