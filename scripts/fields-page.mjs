/** Writes docs/guide/fields.md from the tables of fields, so that the page and the code cannot disagree. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const fieldsPage = fileURLToPath(new URL('../docs/guide/fields.md', import.meta.url));

const intro = `# What reaches a provider

<!-- Generated from src/doors by "npm run docs". Change the tables, not this page. -->

These tables say what happens to each field of a request on a route whose provider speaks the API of your client. On other routes the
request is translated, and [some fields are left out](doors.md#see-what-was-left-out). A field that no table has is passed as it is, except
for embeddings and rerank, where it is refused.

- **passed**: the provider gets it as you sent it.
- **priced**: it goes on where the route has a price for what it asks for, else 400. Tools have a rule of their own.
- **refused**: 400, and no provider is asked. An empty list, \`null\` or a value that asks for nothing is not refused.
- **stored**: passed, but for what it may name at the provider: see below.
- **read**: Lodestone reads it. It is replaced or not sent at all.

## Write names in lower case

Some providers ignore case when they read names. A name that differs from a field of the table only in case (\`Model\`, \`MAX_TOKENS\`) could
override what was checked, so it gets a 400 whose \`param\` is the name as you sent it. The same holds for \`type\`, \`role\`, \`content\` and the
other names that are checked inside of messages, items and tools. Names inside of schemas, arguments and metadata are yours.

## Use what a provider keeps

Files, containers, skills, vector stores, threads, prompts, voices and cached content that a provider keeps belong to the operator's account there,
which all accounts of this gateway share: whoever knows an id could read what is another's. A request that names one gets the 400 without a
\`code\`. Send the content itself. An operator whose accounts may share them sets [\`providers.<id>.stored_objects\`](configuration.md#providers)
to \`true\`; ids then go on to that provider.
`;

const titles = {
  chat: 'Chat completions',
  messages: 'Messages, and counting tokens',
  responses: 'Responses, compacting and the WebSocket',
  embeddings: 'Embeddings',
  rerank: 'Rerank',
};

/** Several doors may be of one API. */
export function renderFieldsPage(doors) {
  const tables = new Map(doors.map(({ name, fields }) => [name, fields]));
  return intro + [...tables].map(([name, { fields }]) => section(titles[name], fields)).join('');
}

function section(title, fields) {
  const rows = [...fields].sort(([a], [b]) => (a < b ? -1 : 1)).map(rowText);
  return `\n## ${title}\n\n| Field | | Why |\n|---|---|---|\n${rows.join('')}`;
}

function rowText([name, { does, why, from }]) {
  return `| \`${name}\`${from ? ` (${from})` : ''} | ${does} | ${why} |\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { doors } = await import('../dist/doors/registry.js');
  writeFileSync(fieldsPage, renderFieldsPage(doors));
}
