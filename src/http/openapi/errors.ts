/** Turns the error table into schemas, examples and responses of the document. */

import type { Condition } from '../../errors/error-table.js';
import type { ErrorRow } from '../../errors/row.js';
import { callerErrors } from '../../errors/table-caller.js';
import { credentialErrors } from '../../errors/table-credentials.js';
import { dashboardErrors } from '../../errors/table-dashboard.js';
import { doorErrors } from '../../errors/table-doors.js';
import { keyErrors } from '../../errors/table-keys.js';
import { nameErrors } from '../../errors/table-names.js';
import { operatorErrors } from '../../errors/table-operator.js';
import { paymentErrors } from '../../errors/table-payments.js';
import { peopleErrors } from '../../errors/table-people.js';
import { projectErrors } from '../../errors/table-projects.js';
import { serviceErrors } from '../../errors/table-service.js';
import { workloadErrors } from '../../errors/table-workloads.js';
import { headerRefs, rateLimitHeaders } from './headers.js';
import * as s from './schema.js';
import type { Example, Ref, Response, Schema } from './types.js';

type Row = ErrorRow<Record<string, unknown>>;

/** The rows of the public API. The dashboard has rows of its own, and shares the limit on new keys. */
const { too_many_attempts } = dashboardErrors;
const { role_required, last_owner, member_exists, member_field_invalid } = peopleErrors;
const table = {
  ...callerErrors,
  ...doorErrors,
  ...keyErrors,
  ...credentialErrors,
  ...serviceErrors,
  ...operatorErrors,
  ...paymentErrors,
  ...projectErrors,
  ...{ ...nameErrors, role_required, last_owner, member_exists, member_field_invalid },
  too_many_attempts,
};
export const documentedConditions = Object.keys(table) as (keyof typeof table)[];

/** Rows of operations that have an envelope of their own: they are described in words. */
const rows = { ...table, ...workloadErrors } as unknown as Record<Condition, Row>;

function rowOf(condition: Condition): Row {
  return rows[condition];
}

/** The rows that name the operation. A row names its operations itself, so that a new error needs no line beside the handler. */
export function conditionsNaming(operationId: string): Condition[] {
  const all = Object.keys(rows) as Condition[];
  return all.filter((condition) => rowOf(condition).operations?.includes(operationId));
}

export function errorSchemaName(condition: Condition): string {
  const words = condition.split('_').map((word) => word[0]!.toUpperCase() + word.slice(1));
  return `Error${words.join('')}`;
}

/** Only failures of `auto/` ids carry the receipt, and only on these rows. */
const withReceipt: readonly Condition[] = [
  'provider_error',
  'no_candidate_left',
  'provider_quota_exhausted',
  'provider_timeout',
];

const receipt = s.optionals({
  providers_attempted: s.texts('The providers that were tried, in order.'),
  breaker_skipped: s.texts('Routes left out because recent failures opened their breaker.'),
  candidates_remaining: s.integer('Candidates neither tried nor ruled out. 0: the same id will not do better.'),
  last_error: s.text('The message of the last upstream failure.'),
});

/** The message of a row with `{name}` in place of each value. */
function messageTemplate(row: Row): string {
  const names = new Proxy<Record<string, unknown>>({}, { get: (_, name) => `{${String(name)}}` });
  return row.message(names);
}

function errorSchema(condition: Condition): Schema {
  const row = rowOf(condition);
  const error = s.object({
    type: { const: row.type },
    ...(row.code !== undefined && { code: { const: row.code } }),
    param:
      row.param === undefined ? s.optional(s.text('The offending field, where there is one.')) : { const: row.param },
    message: s.text('For people.', { examples: [messageTemplate(row)] }),
    ...(withReceipt.includes(condition) && receipt),
  });
  return s.object(
    { error },
    {
      title: `${row.status === 200 ? 'in the stream' : row.status} ${row.code ?? '(no code)'}`,
      description: `${row.when} **What to do:** ${row.remedy}`,
    },
  );
}

function errorExample(condition: Condition): Example {
  const row = rowOf(condition);
  const { type, code, param } = row;
  const error = { type, message: messageTemplate(row), ...(code && { code }), ...(param && { param }) };
  return { summary: row.when, value: { error } };
}

export const errorSchemas: Record<string, Schema> = Object.fromEntries(
  documentedConditions.map((condition) => [errorSchemaName(condition), errorSchema(condition)]),
);

export const errorExamples: Record<string, Example> = Object.fromEntries(
  documentedConditions.filter((condition) => rowOf(condition).status !== 200).map((name) => [name, errorExample(name)]),
);

/** One response for each status. `headerNames` are the headers of every answer of the operation. */
export function errorResponses(
  of: readonly Condition[],
  headerNames: readonly string[],
  envelope?: Schema,
): Readonly<Record<string, Response>> {
  const byStatus = new Map<number, Condition[]>();
  for (const condition of new Set(of)) {
    const { status } = rowOf(condition);
    byStatus.set(status, [...(byStatus.get(status) ?? []), condition]);
  }
  const responses = [...byStatus].map(([status, rows]) => {
    // A 401 knows no key, so it has no limits to report.
    const names = status === 401 ? headerNames.filter((name) => !rateLimitHeaders.includes(name)) : headerNames;
    return [String(status), errorResponse(rows, names, envelope)];
  });
  return Object.fromEntries(responses);
}

/** `envelope` is the schema of an API that has its own form of errors. */
export function errorResponse(rows: readonly Condition[], headerNames: readonly string[], envelope?: Schema): Response {
  const mayRetryAfter = rows.some((condition) => rowOf(condition).retryAfter);
  const schemas = rows.map((condition) => s.ref(errorSchemaName(condition)));
  const examples = rows.map((condition): [string, Ref] => [condition, { $ref: `#/components/examples/${condition}` }]);
  return {
    description: rows.map(rowText).join('\n'),
    headers: headerRefs([...headerNames, ...(mayRetryAfter ? ['retry-after'] : [])]),
    content: envelope
      ? { 'application/json': { schema: envelope } }
      : {
          'application/json': {
            schema: schemas.length === 1 ? schemas[0]! : { anyOf: schemas },
            examples: Object.fromEntries(examples),
          },
        },
  };
}

function rowText(condition: Condition): string {
  const { code, param, when, remedy } = rowOf(condition);
  const name = code === undefined ? '(no `code`)' : `\`${code}\``;
  return `- ${name}${param === undefined ? '' : `, \`${param}\``}: ${when} ${remedy}`;
}
