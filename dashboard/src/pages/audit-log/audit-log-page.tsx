/** What was done in the account and to it, newest first, for owners, admins and auditors. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ownAuditPages } from '../../api/organisation.js';
import { Card } from '../../components/card.js';
import { Select } from '../../components/field.js';
import { AuditIcon } from '../../components/icons.js';
import { MoreButton } from '../../components/more-button.js';
import { PageHeader } from '../../components/page-header.js';
import { EmptyState, ErrorState, SkeletonRows } from '../../components/states.js';
import { AuditTable } from '../audit/audit-table.js';

const kinds = [
  { value: '', label: 'Everything' },
  { value: 'key', label: 'API keys' },
  { value: 'member', label: 'Members' },
  { value: 'invitation', label: 'Invitations' },
  { value: 'project', label: 'Projects' },
  { value: 'account', label: 'Account and sign-in' },
  { value: 'session', label: 'Sessions' },
  { value: 'credits', label: 'Credit' },
  { value: 'payment', label: 'Payments' },
  { value: 'policy', label: 'Routing policies' },
  { value: 'fallback', label: 'Fallbacks' },
  { value: 'alias', label: 'Aliases' },
];

export function Page() {
  const { action } = useSearch({ strict: false }) as { action?: string };
  const navigate = useNavigate();
  const pages = useInfiniteQuery({ ...ownAuditPages(action), placeholderData: keepPreviousData });
  const rows = pages.data?.pages.flatMap(({ data }) => data);
  return (
    <>
      <PageHeader
        description="Who did what in this account. No entry can be changed or removed: each is sealed in the gateway’s public log."
        title="Audit log"
      />
      <search aria-label="Filters" className="mb-4 block max-w-sm">
        <Select
          label="What"
          onChange={(event) =>
            void navigate({ to: '/audit-log', search: { action: event.target.value || undefined }, replace: true })
          }
          options={kinds}
          value={action ?? ''}
        />
      </search>
      <Card flush>
        {rows === undefined ? (
          pages.isError ? (
            <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />
          ) : (
            <SkeletonRows rows={8} />
          )
        ) : rows.length === 0 ? (
          <EmptyState icon={AuditIcon} title={action ? 'Nothing matches' : 'Nothing yet'} />
        ) : (
          <>
            <AuditTable rows={rows.map((entry) => ({ ...entry, account_id: null, account_name: null }))} />
            <MoreButton pages={pages} />
          </>
        )}
      </Card>
    </>
  );
}
