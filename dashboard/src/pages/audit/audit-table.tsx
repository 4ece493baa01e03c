/** What happened, as sentences: for operators with links to the accounts. */
import { Link } from '@tanstack/react-router';
import type { AuditLogEntry } from '../../api/usage-types.js';
import { type Column, Table } from '../../components/table.js';
import { exactTime } from '../../format/time.js';
import { actorOf, type Part, sentenceOf } from './sentences.js';

export function AuditTable({ rows, linked }: { rows: readonly AuditLogEntry[]; linked?: boolean }) {
  return <Table caption="Audit" columns={columnsWith(linked === true)} rowKey={({ id }) => id} rows={rows} />;
}

const columnsWith = (linked: boolean): Column<AuditLogEntry>[] => [
  {
    header: 'Time',
    lead: true,
    className: 'md:w-48',
    cell: ({ created_at: at }) => <span className="tabular whitespace-nowrap text-ink-2">{exactTime(at)}</span>,
  },
  {
    header: 'What happened',
    cell: (entry) => (
      <span className="wrap-anywhere" {...(linked && { title: JSON.stringify(entry.details) })}>
        <PartText bold linked={linked} part={actorOf(entry)} /> <Sentence entry={entry} linked={linked} />
      </span>
    ),
  },
  ...(linked
    ? [
        {
          header: 'Action',
          className: 'md:w-40',
          cell: ({ action }: AuditLogEntry) => <code className="text-xs whitespace-nowrap text-ink-3">{action}</code>,
        },
      ]
    : [{ header: 'From', className: 'md:w-40', cell: fromOf }]),
];

const fromOf = ({ address }: AuditLogEntry) => (
  <span className="text-sm wrap-anywhere text-ink-3">{address ?? '–'}</span>
);

function Sentence({ entry, linked }: { entry: AuditLogEntry; linked: boolean }) {
  return sentenceOf(entry).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence never move.
    <PartText key={index} linked={linked} part={part} />
  ));
}

function PartText({ part: { text, account }, linked, bold }: { part: Part; linked: boolean; bold?: boolean }) {
  const className = bold ? 'font-medium' : undefined;
  if (!linked || !account?.startsWith('acct-')) return <span className={className}>{text}</span>;
  return (
    <Link
      className={`${className ?? ''} underline decoration-field/60 underline-offset-4 hover:decoration-ink`}
      params={{ id: account }}
      to="/accounts/$id"
    >
      {text}
    </Link>
  );
}
