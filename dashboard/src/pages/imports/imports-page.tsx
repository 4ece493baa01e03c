/** The Import report page, for operators: what became of each field of a source. The file is read in the browser and sent nowhere. */
import { useMemo, useRef, useState } from 'react';
import { Badge, type Tone } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { CodeBlock } from '../../components/code-block.js';
import { Input, Select } from '../../components/field.js';
import { ImportIcon } from '../../components/icons.js';
import { PageHeader } from '../../components/page-header.js';
import { Stat } from '../../components/stat.js';
import { EmptyState, Notice } from '../../components/states.js';
import { type Column, Table } from '../../components/table.js';
import { count, plural } from '../../format/figures.js';
import { matchingLines, type Report, type ReportLine, readReport, type Verdict, verdicts } from './read-report.js';

const step = 200;
const tones: Record<Verdict, Tone> = { taken: 'good', changed: 'warn', 'not taken': 'danger' };
const columns: Column<ReportLine>[] = [
  {
    header: 'Field',
    lead: true,
    cell: ({ field }) => <span className="font-mono text-sm wrap-anywhere">{field}</span>,
  },
  { header: 'Outcome', cell: ({ verdict }) => <Badge tone={tones[verdict]}>{verdict}</Badge> },
  {
    header: 'How or why',
    className: 'md:w-1/2',
    cell: ({ words }) => <Words text={words} />,
  },
];

/** What stands between two backticks is code. */
function Words({ text }: { text: string }) {
  const parts = text.split('`').map((part, index) => ({ part, isCode: index % 2 === 1, at: `${index} ${part}` }));
  return (
    <span className="wrap-anywhere text-ink-2">
      {parts.map(({ part, isCode, at }) =>
        isCode ? (
          <code className="font-mono text-sm" key={at}>
            {part}
          </code>
        ) : (
          part
        ),
      )}
    </span>
  );
}

export function Page() {
  const [report, setReport] = useState<Report | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const files = useRef<HTMLInputElement>(null);
  const open = async (file: File | undefined) => {
    if (!file) return;
    const read = readReport(await file.text());
    setReport(read);
    setFault(read ? null : `${file.name} is not the report of an import. Choose the report.md that the command wrote.`);
  };
  const button = (
    <Button icon={ImportIcon} onClick={() => files.current?.click()} variant={report ? 'secondary' : 'primary'}>
      Open a report
    </Button>
  );
  return (
    <>
      <PageHeader
        actions={report ? button : undefined}
        description="What became of each setting of the gateway that you come from. The file stays in this browser."
        title="Import report"
      />
      <input
        accept=".md,.json,text/markdown,application/json"
        aria-label="Report"
        hidden
        onChange={(event) => {
          void open(event.target.files?.[0]);
          event.target.value = '';
        }}
        ref={files}
        type="file"
      />
      {fault && (
        <div className="mb-4">
          <Notice>{fault}</Notice>
        </div>
      )}
      {report ? (
        <Lines key={`${report.title} ${report.lines.length}`} report={report} />
      ) : (
        <Card>
          <EmptyState action={button} icon={ImportIcon} title="No report yet">
            Run the import, then open the report.md that it writes. It reads LiteLLM, Bifrost and Portkey.
          </EmptyState>
          <CodeBlock code="lodestone import litellm config.yaml --out imported" label="Command" />
        </Card>
      )}
    </>
  );
}

function Lines({ report: { title, lines } }: { report: Report }) {
  const [verdict, setVerdict] = useState<Verdict | ''>('');
  const [text, setText] = useState('');
  const [max, setMax] = useState(step);
  const found = useMemo(() => matchingLines(lines, verdict, text), [lines, verdict, text]);
  const shown = useMemo(() => found.slice(0, max), [found, max]);
  const figures = verdicts.map((each) => [each, lines.filter((line) => line.verdict === each).length] as const);
  return (
    <div className="flex flex-col gap-4">
      <Card title={title}>
        <dl className="grid grid-cols-3 gap-4">
          {figures.map(([each, figure]) => (
            <Stat key={each} label={each} value={count(figure)} />
          ))}
        </dl>
      </Card>
      <search className="grid items-end gap-3 md:grid-cols-4">
        <div className="md:col-span-3">
          <Input
            label="Search"
            onChange={(event) => setText(event.target.value)}
            placeholder="fallbacks, api_key …"
            type="search"
            value={text}
          />
        </div>
        <Select
          label="Outcome"
          onChange={(event) => setVerdict(event.target.value as Verdict | '')}
          options={[{ value: '', label: 'Any' }, ...verdicts.map((value) => ({ value, label: value }))]}
          value={verdict}
        />
      </search>
      <p className="text-sm text-ink-3" role="status">
        {plural(found.length, 'field')}
      </p>
      <Card flush>
        <Table caption="Fields" columns={columns} rowKey={({ field }) => field} rows={shown} />
        {found.length > max && (
          <div className="flex justify-center border-t border-line p-3">
            <Button onClick={() => setMax(max + step)} variant="ghost">
              Show more
            </Button>
          </div>
        )}
      </Card>
    </div>
  );
}
