/** The shape of one row of the error table. */

export type ErrorType =
  | 'authentication_error'
  | 'invalid_request_error'
  | 'permission_error'
  | 'not_found'
  | 'provider_error'
  | 'provider_unavailable'
  | 'rate_limit_error'
  | 'internal_server_error';

export interface ErrorRow<Values> {
  /** HTTP status; 200 on the one row that is only ever sent inside an open stream. */
  readonly status: number;
  readonly type: ErrorType;
  /** Absent on the refusal of §7.3. */
  readonly code?: string;
  /** The offending field where it is always the same one; rows with a varying field take it from `values.param`. */
  readonly param?: string;
  /** The row's answers carry `Retry-After`. */
  readonly retryAfter?: true;
  /** The condition, in the words of the docs page. */
  readonly when: string;
  /** What the caller should do, in the words of the docs page. */
  readonly remedy: string;
  /** What happened, with the value, and what to do. */
  readonly message: (values: Values) => string;
}

/** A quotation as a sentence of its own, so that another can follow it. */
export function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

export function row<Values = Record<string, never>>(definition: ErrorRow<Values>): ErrorRow<Values> {
  return definition;
}
