/** The fields of a JSON source, as the report names them. */
import { ImportReport, noSetting, type Verdict } from './report.js';

/** Every object, list and value below the file, in the order of the source. */
export function fieldsWithin(file: string, config: object): string[] {
  return Object.entries(config).flatMap(([name, value]) => fieldsBelow(value, `${file} ${name}`));
}

function fieldsBelow(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((each, index) => fieldsBelow(each, `${path}[${index}]`))];
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, each]) => fieldsBelow(each, `${path}.${name}`))];
}

/** A line for each value that neither has one nor stands within something that has one. */
export function reportLeft(report: ImportReport, fields: readonly string[], words = noSetting): void {
  const containers = new Set(fields.map(containerOf));
  const hasLine = (field: string | null): boolean =>
    field !== null && (report.hasLine(field) || hasLine(containerOf(field)));
  for (const field of fields) if (!containers.has(field) && !hasLine(field)) report.notTaken(field, words);
}

/** null for a field of the file itself. */
function containerOf(field: string): string | null {
  const end = Math.max(field.lastIndexOf('.'), field.lastIndexOf('['));
  return end < field.lastIndexOf(' ') ? null : field.slice(0, end);
}

/** Takes lines of a reader of LiteLLM's entries, which another source is read by, under the names of that source. */
export class RenamedReport extends ImportReport {
  constructor(
    private readonly report: ImportReport,
    private readonly nameOf: (field: string) => string,
  ) {
    super();
  }

  override add(field: string, verdict: Verdict, words: string): void {
    this.report.add(this.nameOf(field), verdict, words);
  }

  /** They are fields of an entry that was made of the source's own, which have their lines. */
  override addRest(): void {}
}
