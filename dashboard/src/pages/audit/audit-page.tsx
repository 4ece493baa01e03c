/** For operators: who did what, newest first. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { auditQuery } from '../../api/queries.js';
import type { AuditEntry } from '../../api/usage-types.js';
import { Badge } from '../../components/badge.js';
import { Card } from '../../components/card.js';
import { AuditIcon } from '../../components/icons.js';
import { MoreButton } from '../../components/more-button.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { EmptyState } from '../../components/states.js';
import { type Column, Table } from '../../components/table.js';
import { exactTime } from '../../format/time.js';

const step = 50;
const limitMax = 1000;

export function Page() {
  const [limit, setLimit] = useState(step);
  const audit = useQuery({ ...auditQuery(limit), placeholderData: keepPreviousData });
  return (
    <>
      <PageHeader description="Every change to API keys, credit, accounts, models and routes." title="Audit" />
      <Card flush>
        <PageData query={audit}>
          {(entries) =>
            entries.length === 0 ? (
              <EmptyState icon={AuditIcon} title="No changes yet" />
            ) : (
              <>
                <Table caption="Audit" columns={columns} rowKey={({ id }) => String(id)} rows={entries} />
                <MoreButton
                  pages={{
                    hasNextPage: entries.length >= limit && limit < limitMax,
                    isFetchingNextPage: audit.isPlaceholderData,
                    fetchNextPage: () => setLimit(Math.min(limit + step, limitMax)),
                  }}
                />
              </>
            )
          }
        </PageData>
      </Card>
    </>
  );
}

const columns: Column<AuditEntry>[] = [
  {
    header: 'Time',
    lead: true,
    cell: ({ created_at: at }) => <span className="whitespace-nowrap">{exactTime(at)}</span>,
  },
  // Without a width, columns that may break anywhere would shrink to a few letters.
  {
    header: 'Who',
    className: 'md:min-w-36',
    cell: ({ actor }) => <code className="text-xs wrap-anywhere">{actor}</code>,
  },
  { header: 'Did', cell: ({ action }) => <Badge>{action}</Badge> },
  {
    header: 'To',
    className: 'md:min-w-36',
    cell: ({ subject }) => <code className="text-xs wrap-anywhere text-ink-2">{subject}</code>,
  },
  {
    header: 'Details',
    className: 'md:min-w-56',
    cell: ({ details }) =>
      details === null || details === undefined ? (
        ''
      ) : (
        <code className="text-xs wrap-anywhere text-ink-3">{JSON.stringify(details)}</code>
      ),
  },
];
