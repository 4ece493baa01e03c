/** Writes the files of an import: settings of providers, own catalogue entries, names, secrets, and the report. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Plan } from './plan.js';

export const fileNames = {
  providers: 'providers.import.yaml',
  catalogue: 'catalogue.import.yaml',
  names: 'names.import.yaml',
  secrets: 'secrets.env',
  report: 'report.md',
} as const;

export function writeFiles(dir: string, plan: Plan, report: string): void {
  mkdirSync(dir, { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(dir, name), text);
  write(fileNames.providers, yamlOf({ providers: Object.fromEntries(plan.providers) }));
  write(fileNames.catalogue, yamlOf(catalogueOf(plan)));
  write(fileNames.names, yamlOf({ names: namesOf(plan) }));
  write(fileNames.report, report);
  if (plan.secrets.size > 0) writeSecrets(join(dir, fileNames.secrets), plan.secrets);
}

/** Made for its owner alone before the first secret is in it. */
function writeSecrets(file: string, secrets: ReadonlyMap<string, string>): void {
  writeFileSync(file, '', { mode: 0o600 });
  chmodSync(file, 0o600);
  const lines = [...secrets].map(([name, value]) => `${name}='${value.replaceAll("'", `'\\''`)}'\n`);
  writeFileSync(file, lines.join(''), { mode: 0o600 });
}

function namesOf({ names, system }: Plan): object {
  return Object.fromEntries([...names].map(([name, made]) => [name, { ...made, imported_from: { system, id: name } }]));
}

function catalogueOf({ catalogue }: Plan): object {
  return Object.fromEntries(Object.entries(catalogue).filter(([, entries]) => entries.length > 0));
}

/** Prices are decimal text until here; as text they would be quoted, which is no number. */
function yamlOf(value: object): string {
  const asNumbers = (_key: unknown, inner: unknown): unknown =>
    typeof inner === 'object' && inner !== null && 'input' in inner && 'output' in inner && 'source' in inner
      ? Object.fromEntries(Object.entries(inner).map(([name, figure]) => [name, numberOf(name, figure)]))
      : inner;
  return stringify(JSON.parse(JSON.stringify(value, asNumbers as never)), { lineWidth: 0 });
}

function numberOf(name: string, figure: unknown): unknown {
  return name !== 'source' && name !== 'as_of' && typeof figure === 'string' ? Number(figure) : figure;
}

/** The lines that take the files into the configuration. */
export function configurationLines(dir: string, plan: Plan): string[] {
  return [
    `include: [${join(dir, fileNames.providers)}]`,
    `catalogue: [builtin, ${join(dir, fileNames.catalogue)}]`,
    `names: [${join(dir, fileNames.names)}]`,
    ...(plan.secrets.size > 0 ? [`# and in the environment: the variables of ${join(dir, fileNames.secrets)}`] : []),
  ];
}
