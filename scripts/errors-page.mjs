/** Writes docs/guide/errors.md from the error table, so that the page and the code cannot disagree. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const errorsPage = fileURLToPath(new URL('../docs/guide/errors.md', import.meta.url));

const intro = `# Errors

<!-- Generated from src/errors by "npm run docs". Change the table, not this page. -->

Every error has the same body:

\`\`\`json
{
  "error": {
    "type": "not_found",
    "code": "alias_not_found",
    "param": "model",
    "message": "This account has no alias \\"fast\\". GET /v1/aliases lists its aliases."
  }
}
\`\`\`

Branch on \`code\` and the HTTP status. \`type\` is a broad category, \`message\` is for people, and \`param\` names the faulty field if
there is one. Every answer has an \`x-request-id\`; send it to the operator if you need help.

When an \`auto/\` request fails upstream, the error also holds the routing details: \`providers_attempted\`, \`breaker_skipped\`,
\`candidates_remaining\` (0: retrying the same id will not help) and \`last_error\`.

Each entry below has the \`code\`, the \`type\` in brackets if it differs, the \`param\` if it is always the same, when it happens, and what to
do.
`;

const titles = {
  200: 'In a stream',
  400: '400 Bad request',
  401: '401 Unauthorized',
  402: '402 Payment required',
  403: '403 Forbidden',
  404: '404 Not found',
  405: '405 Method not allowed',
  408: '408 Request timeout',
  409: '409 Conflict',
  410: '410 Gone',
  413: '413 Content too large',
  417: '417 Expectation failed',
  422: '422 Unprocessable content',
  429: '429 Too many requests',
  431: '431 Request header fields too large',
  451: '451 Unavailable for legal reasons',
  500: '500 Internal server error',
  503: '503 Service unavailable',
  504: '504 Gateway timeout',
};

/** By status, and within one in the order of the table; the one that comes inside a stream is last. */
export function renderErrorsPage(table) {
  const rows = Object.values(table);
  const statuses = [...new Set(rows.map((row) => row.status))].sort((a, b) => order(a) - order(b));
  const sections = statuses.map((status) => {
    if (!(status in titles)) throw new Error(`the errors page has no title for the status ${status}`);
    return `\n## ${titles[status]}\n\n${rows
      .filter((row) => row.status === status)
      .map(rowText)
      .join('')}`;
  });
  return intro + sections.join('');
}

function rowText(row) {
  const name = row.code === undefined ? '**no code**' : `**${code(row.code)}**`;
  const param = row.param === undefined ? '' : `, ${code(row.param)}`;
  const retryAfter = row.retryAfter ? ' Carries `Retry-After`.' : '';
  const type = row.type === row.code ? '' : ` (${code(row.type)})`;
  return `- ${name}${type}${param}: ${row.when} *${row.remedy}*${retryAfter}\n`;
}

function order(status) {
  return status === 200 ? Number.POSITIVE_INFINITY : status;
}

function code(text) {
  return `\`${text}\``;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { errorTable } = await import('../dist/errors/error-table.js');
  writeFileSync(errorsPage, renderErrorsPage(errorTable));
}
