/** What became of every field of a source: taken, changed, or not taken, with the reason. Never the value of a secret. */

/** For a field that this import does not know. */
export const noSetting =
  'Lodestone has no such setting: do without it, or look for what you need in the guide’s page on configuration';

export type Verdict = 'taken' | 'changed' | 'not taken';

export interface ReportLine {
  /** Where it stands, such as `config.yaml model_list[2].litellm_params.rpm`. */
  readonly field: string;
  readonly verdict: Verdict;
  /** What it became, how it was changed, or why it was not taken and what to do instead. */
  readonly words: string;
}

const verdicts: readonly Verdict[] = ['taken', 'changed', 'not taken'];

export class ImportReport {
  /** null = the field was found, and nothing was said of it yet. */
  private readonly byField = new Map<string, ReportLine | null>();

  /** One for each field, in the order in which the fields were found. */
  get lines(): ReportLine[] {
    return [...this.byField.values()].filter((line) => line !== null);
  }

  /** Gives the fields their places, because some are understood only after others that follow them. */
  expect(fields: readonly string[]): void {
    for (const field of fields) if (!this.byField.has(field)) this.byField.set(field, null);
  }

  hasLine(field: string): boolean {
    return this.byField.get(field) != null;
  }

  taken(field: string, words = ''): void {
    this.add(field, 'taken', words);
  }

  changed(field: string, how: string): void {
    this.add(field, 'changed', how);
  }

  notTaken(field: string, why: string): void {
    this.add(field, 'not taken', why);
  }

  /** A line for those of the fields that have none. */
  addRest(fields: readonly string[], verdict: Verdict, words: string): void {
    for (const field of fields) if (!this.byField.get(field)) this.add(field, verdict, words);
  }

  /** A field has one line: of two verdicts the worse holds, with the words of both. */
  add(field: string, verdict: Verdict, words: string): void {
    const known = this.byField.get(field);
    if (!known) return void this.byField.set(field, { field, verdict, words });
    const worse = verdicts.indexOf(known.verdict) > verdicts.indexOf(verdict) ? known.verdict : verdict;
    const both = [known.words, words].filter((each) => each !== '');
    this.byField.set(field, { field, verdict: worse, words: [...new Set(both)].join('; ') });
  }

  count(verdict: Verdict): number {
    return this.lines.filter((line) => line.verdict === verdict).length;
  }

  /** One line for each field, in the order of the source. */
  markdown(title: string): string {
    const counts = verdicts.map((verdict) => `${this.count(verdict)} ${verdict}`);
    const rows = this.lines.map(({ field, verdict, words }) => `| ${cell(field)} | ${verdict} | ${cell(words)} |`);
    return [`# ${title}`, '', `${counts.join(', ')}.`, '', '| field | outcome | |', '|---|---|---|', ...rows, ''].join(
      '\n',
    );
  }
}

function cell(text: string): string {
  const plain = text.replace(/\p{Cc}/gu, '\ufffd').replaceAll('|', '\\|');
  return plain.length > 400 ? `${plain.slice(0, 400)}…` : plain;
}
