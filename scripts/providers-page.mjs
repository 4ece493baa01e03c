/** Brings the counts and the table of docs/guide/providers.md up to the built-in catalogue. The rest of the page is written by hand. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const page = fileURLToPath(new URL('../docs/guide/providers.md', import.meta.url));
const rowPattern = /^\| `([\w.-]+)` \| (.*) \| .* \| .* \|$/;

/** The cell about variables is kept where a row exists, because some providers need more than one variable. */
export function renderProvidersPage(text, { providers, routes }) {
  const own = [...routes.values()].filter(({ provider }) => provider.dialect !== 'sandbox');
  const ids = new Set(own.map(({ provider }) => provider.id));
  const models = new Set(own.map(({ model }) => model.canonicalId));
  const lines = text.split('\n');
  const first = lines.findIndex((line) => rowPattern.test(line));
  const rows = lines.filter((line) => rowPattern.test(line)).map((line) => rowPattern.exec(line));
  const variables = new Map(rows.map(([, id, cell]) => [id, cell]));
  const order = [...[...variables.keys()].filter((id) => ids.has(id)), ...[...ids].filter((id) => !variables.has(id))];
  const table = order.map((id) => {
    const { apiKeyEnv, headquarters } = providers.get(id);
    const offered = own.filter(({ provider }) => provider.id === id);
    const locodes = [...new Set(offered.map(({ locode }) => locode))];
    const regions = locodes.sort((a, b) => (b === 'global') - (a === 'global') || (a < b ? -1 : 1));
    const shown = regions.map((locode) => `\`${locode}\``).join(', ');
    const law = headquarters ?? (offered[0].processing === 'operator' ? 'yours' : 'not stated');
    return `| \`${id}\` | ${variables.get(id) ?? `\`${apiKeyEnv}\``} | ${shown} | ${law} |`;
  });
  lines.splice(first, rows.length, ...table);
  return lines
    .join('\n')
    .replace(
      /\d+ providers, \d+ models and \d+ routes/,
      `${ids.size} providers, ${models.size} models and ${own.length} routes`,
    );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { readCatalogue } = await import('../dist/cli/catalogue-snapshot.js');
  const { snapshot } = await readCatalogue({ catalogue: ['builtin'], providers: {} }, { env: {}, cwd: '.' });
  writeFileSync(page, renderProvidersPage(readFileSync(page, 'utf8'), snapshot));
}
