/** Reads the report of `lodestone import`: `report.md`, or what the command prints with `--json`. */

export const verdicts = ['taken', 'changed', 'not taken'] as const;
export type Verdict = (typeof verdicts)[number];

export interface ReportLine {
  field: string;
  verdict: Verdict;
  /** What it became, how it was changed, or why it was not taken and what to do instead. */
  words: string;
}

export interface Report {
  title: string;
  lines: ReportLine[];
}

/** null for a text that is no such report. */
export function readReport(text: string): Report | null {
  return text.trimStart().startsWith('{') ? ofJson(text) : ofMarkdown(text);
}

function ofJson(text: string): Report | null {
  try {
    const { report } = JSON.parse(text) as { report?: unknown };
    return Array.isArray(report) && report.every(isLine) ? { title: 'Import', lines: report } : null;
  } catch {
    return null;
  }
}

function isLine(value: unknown): value is ReportLine {
  const { field, verdict, words } = (value ?? {}) as Partial<Record<keyof ReportLine, unknown>>;
  return typeof field === 'string' && typeof words === 'string' && verdicts.includes(verdict as Verdict);
}

/** A row of the table; a `|` of the text has a backslash before it. */
const row = /^\| (.*?) \| (taken|changed|not taken) \| (.*) \|$/;

function ofMarkdown(text: string): Report | null {
  const title = /^# (Import from .*)$/m.exec(text)?.[1];
  if (title === undefined) return null;
  const plain = (cell: string) => cell.replaceAll('\\|', '|');
  const lines = text.split('\n').flatMap((line) => {
    const [, field, verdict, words] = row.exec(line) ?? [];
    return field === undefined ? [] : [{ field: plain(field), verdict: verdict as Verdict, words: plain(words!) }];
  });
  return { title, lines };
}

/** Those with one verdict, or with any, that contain every word of the text. */
export function matchingLines(lines: readonly ReportLine[], verdict: Verdict | '', text: string): ReportLine[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return lines.filter((line) => {
    if (verdict !== '' && line.verdict !== verdict) return false;
    const searched = `${line.field} ${line.words}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
}
