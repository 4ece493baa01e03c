/** Writes the sections of docs/guide/data-policies.md about each provider from the built-in catalogue. The rest is written by hand. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const dataPoliciesPage = fileURLToPath(new URL('../docs/guide/data-policies.md', import.meta.url));

const startMark = '<!-- "npm run docs" writes the rest of this page from catalogue/providers. -->';
const unpublished = 'not published';

const yesNo = (value) => (value ? 'yes' : 'no');
const retention = (days) => (days === 0 ? 'nothing is kept' : days === 1 ? '1 day' : `${days} days`);
const zeroRetention = {
  default: 'without asking',
  on_request: 'by a setting or on request',
  contract: 'by an agreement',
  no: 'not offered',
};

/** Each fact: its title, its field, and its value as text. */
const facts = [
  ['Trains on paid requests', 'trains', yesNo],
  ['Keeps prompts or answers', 'retention_days', retention],
  ['Zero retention', 'zdr', (kind) => zeroRetention[kind]],
  ['Stays in the region of the route', 'in_region', yesNo],
  ['Owned in the EU', 'eu_owned', yesNo],
  ['Certifications', 'certifications', (names) => names.map((name) => `\`${name}\``).join(', ') || 'none'],
];

export function renderDataPoliciesPage(text, { providers, routes }) {
  const sections = [...providers.values()]
    .filter(({ dialect }) => dialect !== 'sandbox')
    .map((provider) => sectionOf(provider, [...routes.values()]));
  return `${text.slice(0, text.indexOf(startMark))}${startMark}\n\n${sections.join('\n')}`;
}

function sectionOf({ id, name, dataPolicy }, routes) {
  const rows = facts.map(([title, field, textOf]) => {
    const value = dataPolicy?.[field];
    return `| ${title} | ${value === undefined ? unpublished : textOf(value)} |\n`;
  });
  const { source, as_of: asOf } = dataPolicy ?? {};
  const own = routes.filter(({ provider }) => provider.id === id);
  const unstated = own.some(({ processing }) => processing === 'operator') ? 'you operate it' : unpublished;
  return (
    `## ${name} (\`${id}\`)\n\n| fact | published |\n|---|---|\n${rows.join('')}` +
    `| Source | ${source === undefined ? unstated : linked(source)} |\n` +
    `| As of | ${asOf ?? unpublished} |\n${quantizationText(own)}`
  );
}

function quantizationText(routes) {
  const known = routes.filter(({ quantization }) => quantization !== undefined);
  if (known.length === 0) return '';
  const list = known.map(({ model, quantization }) => `\`${model.canonicalId}\` ${quantization}`).join(', ');
  return `\nQuantization: ${list}. Of its other routes it is ${unpublished}.\n`;
}

function linked(source) {
  return source
    .split('; ')
    .map((one) => (one.startsWith('https://') ? `<${one}>` : one))
    .join('; ');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { readCatalogue } = await import('../dist/cli/catalogue-snapshot.js');
  const { snapshot } = await readCatalogue({ catalogue: ['builtin'], providers: {} }, { env: {}, cwd: '.' });
  writeFileSync(dataPoliciesPage, renderDataPoliciesPage(readFileSync(dataPoliciesPage, 'utf8'), snapshot));
}
