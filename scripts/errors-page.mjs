/** Writes docs/guide/errors.md from the error table, so that the page cannot say anything else than the code does. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const errorsPage = fileURLToPath(new URL('../docs/guide/errors.md', import.meta.url));

const intro = `# Errors

<!-- Generated from src/errors by "npm run docs". Change the table, not this page. -->

Every error has the same body:

\`\`\`json
{ "error": { "type": "not_found", "message": "…", "code": "alias_not_found", "param": "model" } }
\`\`\`

Branch on \`code\` and the HTTP status. \`type\` is a coarse bucket, \`message\` is for people, \`param\` names the offending field and
is there only when there is one. Every answer carries \`x-request-id\`; tell it to the operator when something needs looking into.

When an \`auto/\` request fails upstream, the error also holds the routing receipt: \`providers_attempted\`, \`breaker_skipped\`,
\`candidates_remaining\` (0: retrying the same id will not help) and \`last_error\`.

| Status | \`type\` | \`code\` | \`param\` | When | What to do | \`Retry-After\` |
|---|---|---|---|---|---|---|
`;

export function renderErrorsPage(table) {
  return intro + Object.values(table).map(rowText).join('');
}

function rowText(row) {
  const cells = [
    row.status === 200 ? 'in stream' : String(row.status),
    code(row.type),
    row.code === undefined ? 'none' : code(row.code),
    row.param === undefined ? '' : code(row.param),
    row.when,
    row.remedy,
    row.retryAfter ? 'yes' : '',
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |\n`;
}

function code(text) {
  return `\`${text}\``;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { errorTable } = await import('../dist/errors/table.js');
  writeFileSync(errorsPage, renderErrorsPage(errorTable));
}
