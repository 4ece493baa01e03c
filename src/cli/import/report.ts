/** What became of every field of a source: taken, changed, or not taken, with the reason. Never the value of a secret. */

export type Verdict = 'taken' | 'changed' | 'not taken';

export interface ReportLine {
  /** Where it stands, such as `config.yaml model_list[2].litellm_params.rpm`. */
  readonly field: string;
  readonly verdict: Verdict;
  /** What it became, how it was changed, or why it was not taken and what to do instead. */
  readonly words: string;
}

export class ImportReport {
  readonly lines: ReportLine[] = [];

  taken(field: string, words = ''): void {
    this.lines.push({ field, verdict: 'taken', words });
  }

  changed(field: string, how: string): void {
    this.lines.push({ field, verdict: 'changed', words: how });
  }

  notTaken(field: string, why: string): void {
    this.lines.push({ field, verdict: 'not taken', words: why });
  }

  count(verdict: Verdict): number {
    return this.lines.filter((line) => line.verdict === verdict).length;
  }

  /** One line for each field, in the order of the source. */
  markdown(title: string): string {
    const counts = (['taken', 'changed', 'not taken'] as const).map((verdict) => `${this.count(verdict)} ${verdict}`);
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
