/** Writes docs/guide/gates.md, and the lists in docs/behaviour/policy.md, from the list of gates, so that pages and code cannot disagree. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const gatesPage = fileURLToPath(new URL('../docs/guide/gates.md', import.meta.url));

export const policyPage = fileURLToPath(new URL('../docs/behaviour/policy.md', import.meta.url));

export function renderGatesPage({ gates, defaultPolicy, preferences }) {
  return `# Routing policy

<!-- Generated from src/policy/gates by "npm run docs". Change the gates, not this page. -->

An account has one routing policy. Its gates are strict: a route that a gate removes is never tried for an \`auto/\` id, whatever else
fails. They never affect an explicit id, which is served by its own route or not at all.

\`GET\`, \`PUT\` and \`DELETE /v1/routing-policy\` read it, replace all of it, and reset it to the defaults. A field that a \`PUT\` leaves out or
sends as \`null\` gets its default; an unknown field is refused. The defaults:

\`\`\`json
${JSON.stringify({ object: 'routing_policy', ...defaultPolicy }, null, 2)}
\`\`\`

| Gate | Takes | Removes |
|---|---|---|
${gates.map(rowText).join('')}
The gates check routes in this order, and a route counts at the first gate that removes it. If no route is left, the answer is 403
\`routing_policy_exhausted\`, whose message names each gate with the number of routes that it removed. A retry does not help: relax a gate,
or pin a four-segment id. \`POST /v1/routes/explain\` shows the smallest changes that would admit a route.

\`prefer\` orders what the gates leave: ${preferences.map((name) => `\`${name}\``).join(', ')}. A route with an unknown figure ranks last.
`;
}

/** The rules with the defaults and the order of the gates as they are in the code. */
export function renderPolicyPage(page, { gates, defaultPolicy }) {
  const fields = Object.entries({ object: 'routing_policy', ...defaultPolicy });
  const defaults = fields.map(([name, value]) => `  "${name}": ${inline(value)}`).join(',\n');
  const names = gates.map(({ name }) => `\`${name}\``).join(', ');
  return page
    .replace(/(## Policy document\n[\s\S]*?```json\n)[\s\S]*?(\n```)/, `$1{\n${defaults}\n}$2`)
    .replace(/(## Order of gates\n\n.+\n\n).+/, `$1${names}`);
}

function inline(value) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, one]) => `"${name}": ${JSON.stringify(one)}`)
    .join(', ')} }`;
}

function rowText({ name, takes, removes }) {
  return `| ${[`\`${name}\``, takes, removes].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { gates } = await import('../dist/policy/gates/index.js');
  const { defaultPolicy } = await import('../dist/policy/policy.js');
  const { preferences } = await import('../dist/policy/routing-policy.js');
  writeFileSync(gatesPage, renderGatesPage({ gates, defaultPolicy, preferences }));
  writeFileSync(policyPage, renderPolicyPage(readFileSync(policyPage, 'utf8'), { gates, defaultPolicy }));
}
