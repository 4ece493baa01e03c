/** The shape of one row of the error table, and what a row need not say. */

type ErrorType =
  | 'authentication_error'
  | 'invalid_request_error'
  | 'permission_error'
  | 'not_found'
  | 'provider_error'
  | 'provider_unavailable'
  | 'rate_limit_error'
  | 'internal_server_error';

export interface ErrorRow<Values> {
  /** HTTP status; 200 on the one row that is sent only inside an open stream. */
  readonly status: number;
  readonly type: ErrorType;
  /** Absent on the error for a parameter that a route cannot apply. */
  readonly code?: string;
  /** The field at fault where it is always the same; other rows take it from `values.param`. */
  readonly param?: string;
  /** Responses of this row carry `Retry-After`. */
  readonly retryAfter?: true;
  /** The condition, for the docs page. */
  readonly when: string;
  /** What the client should do, for the docs page. */
  readonly remedy: string;
  /**
   * Operations of the API that can end in this row, by their ids. Absent where every operation of a kind can:
   * `src/http/openapi/operations.ts` lists those rows.
   */
  readonly operations?: readonly string[];
  /** What happened, with the value, and what to do. */
  readonly message: (values: Values) => string;
}

/** The operations that send a request to a model, by their ids. */
export const modelOperations: readonly string[] = [
  ...['createChatCompletion', 'createMessage', 'createResponse', 'compactResponse', 'createEmbedding', 'createRerank'],
];

/** Ends a quotation with a full stop, so that another sentence can follow. */
export function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** A row as it is written: the type follows from most statuses, and the code is the name of the row. */
interface Definition<Values> extends Omit<ErrorRow<Values>, 'type' | 'code'> {
  readonly type?: ErrorType;
  /** null for a row without a code. */
  readonly code?: string | null;
}

const typesByStatus: Readonly<Record<number, ErrorType>> = {
  ...{ 401: 'authentication_error', 403: 'permission_error', 404: 'not_found', 451: 'permission_error' },
  500: 'internal_server_error',
};

export function row<Values = Record<string, never>>(definition: Definition<Values>): Definition<NoInfer<Values>> {
  return definition;
}

/** The rows of a table, each with its type and its code. */
export function errorRows<T extends Record<string, Definition<never>>>(definitions: T) {
  const rows = Object.entries(definitions).map(([condition, { code = condition, ...rest }]) => {
    const type = rest.type ?? typesByStatus[rest.status] ?? 'invalid_request_error';
    return [condition, { ...rest, type, ...(code !== null && { code }) }];
  });
  return Object.fromEntries(rows) as { readonly [Name in keyof T]: ErrorRow<Parameters<T[Name]['message']>[0]> };
}
