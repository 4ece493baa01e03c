/** Writes docs/guide/configuration.md from the settings of src/config/settings.ts, so that the page and the code agree. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const configurationPage = fileURLToPath(new URL('../docs/guide/configuration.md', import.meta.url));

export function renderConfigurationPage({ topLevel, sections }) {
  return `# Configuration

<!-- Generated from src/config/settings.ts by "npm run docs". Change the settings there, not this page. -->

Lodestone reads the file that \`--config FILE\` names, else the one that \`LODESTONE_CONFIG\` names, else \`./lodestone.yaml\` if it exists. Every
field is optional, and \`null\` stands for the default. An unknown field stops the start with its name and line.

Every secret can also be read from a file, whose last line break is dropped: \`admin_token_file: /run/secrets/admin\` in the place of
\`admin_token\`, or \`LODESTONE_ADMIN_TOKEN_FILE\` in the place of \`LODESTONE_ADMIN_TOKEN\`. Both at once are an error.

\`\${NAME}\` is replaced by the environment variable \`NAME\`. Durations are written \`250ms\`, \`15s\` or \`1m30s\`, sizes \`512MiB\` or \`2GiB\`. Relative paths start
at the folder of the file.

${table(topLevel, '')}
${Object.entries(sections)
  .map(([name, rows]) => `## ${name}\n\n${table(rows, `${name}.`)}`)
  .join('\n')}
## providers

| Field | Default | Purpose |
|---|---|---|
| \`providers.<id>.api_key\` | from the environment | The credential of a provider of the catalogue, often \`\${NAME}\`. Or \`api_key_file\`. |
| \`providers.<id>.keys\` | none | [Several credentials](providers.md#use-several-keys-of-one-provider): a list of \`name\`, \`api_key\` (or \`api_key_file\`), \`weight\` (1 or more, 1 by default) and \`models\` (\`{creator}/{model}\` or \`{creator}/*\`, all by default). An \`api_key\` beside it is the key \`default\`. |
| \`providers.<id>.base_url\` | from the catalogue | Another address of its API. |
| \`providers.<id>.agreement\` | none | What you have agreed with the provider: any field of a [data policy](data-policies.md), and a \`reference\` for your records. Its fields win over those of the catalogue. |
| \`providers.<id>.stored_objects\` | \`false\` | Whether requests may name files, containers, vector stores, threads and prompts that the provider keeps for your account. [All accounts share them](fields.md#use-what-a-provider-keeps). |
`;
}

function table(rows, prefix) {
  const lines = Object.entries(rows).map(([key, row]) => rowText(`${prefix}${key}`, row));
  return `| Field | Default | Purpose |\n|---|---|---|\n${lines.join('')}`;
}

function rowText(field, row) {
  const {
    env,
    docs: { about },
  } = row;
  const said = row.isSecret ? `${about} Or \`${field.split('.').at(-1)}_file\`.` : about;
  const cells = [`\`${field}\``, defaultText(row), env ? `${said} \`${env}\` wins over the file.` : said];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
}

function defaultText({ name, default: value, docs }) {
  if (docs.default !== undefined) return docs.default;
  if (value === null) return 'none';
  if (name.endsWith('Ms')) return `\`${durationText(value)}\``;
  if (name.endsWith('Bytes')) return `\`${value / 1024 ** 2}MiB\``;
  return `\`${Array.isArray(value) ? `[${value.join(', ')}]` : value}\``;
}

function durationText(ms) {
  const minutes = Math.floor(ms / 60_000);
  const seconds = (ms % 60_000) / 1000;
  return [minutes > 0 && `${minutes}m`, (seconds > 0 || minutes === 0) && `${seconds}s`].filter(Boolean).join('');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(configurationPage, renderConfigurationPage(await import('../dist/config/settings.js')));
}
