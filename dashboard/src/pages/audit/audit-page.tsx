/** For operators: who did what, newest first, in sentences, with filters in the URL. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { accountsQuery } from '../../api/queries.js';
import { auditPages } from '../../api/report.js';
import { Card } from '../../components/card.js';
import { Select } from '../../components/field.js';
import { AuditIcon } from '../../components/icons.js';
import { MoreButton } from '../../components/more-button.js';
import { PageHeader } from '../../components/page-header.js';
import { EmptyState, ErrorState, SkeletonRows } from '../../components/states.js';
import { AuditTable } from './audit-table.js';

interface AuditFilters {
  actor?: string | undefined;
  action?: string | undefined;
}

const kinds = [
  { value: '', label: 'Everything' },
  { value: 'key', label: 'API keys' },
  { value: 'credits', label: 'Credit' },
  { value: 'payment', label: 'Payments' },
  { value: 'account', label: 'Accounts' },
  { value: 'session', label: 'Sign-ins' },
  { value: 'policy', label: 'Routing policies' },
  { value: 'fallback', label: 'Fallbacks' },
  { value: 'alias', label: 'Aliases' },
  { value: 'model', label: 'Model availability' },
  { value: 'hold', label: 'Holds' },
  { value: 'catalogue', label: 'Catalogue' },
  { value: 'storage', label: 'Storage' },
  { value: 'admin', label: 'Refused admin tokens' },
];

export function Page() {
  const { actor, action } = useSearch({ strict: false }) as AuditFilters;
  const navigate = useNavigate();
  const pages = useInfiniteQuery({ ...auditPages({ actor, action }), placeholderData: keepPreviousData });
  const rows = pages.data?.pages.flatMap(({ data }) => data);
  const set = (change: AuditFilters) =>
    void navigate({ to: '/audit', search: { actor, action, ...change }, replace: true });
  return (
    <>
      <PageHeader description="Every change to API keys, credit, accounts, models and routes." title="Audit" />
      <search aria-label="Filters" className="mb-4 grid max-w-2xl gap-3 sm:grid-cols-2">
        <WhoSelect onChange={(value) => set({ actor: value || undefined })} value={actor ?? ''} />
        <Select
          label="What"
          onChange={(event) => set({ action: event.target.value || undefined })}
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
          <EmptyState icon={AuditIcon} title={actor || action ? 'No change matches' : 'No changes yet'} />
        ) : (
          <>
            <AuditTable linked rows={rows} />
            <MoreButton pages={pages} />
          </>
        )}
      </Card>
    </>
  );
}

function WhoSelect({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { data: accounts } = useQuery(accountsQuery);
  const options = [
    { value: '', label: 'Anybody' },
    { value: 'operator', label: 'An operator with the admin token' },
    { value: 'system', label: 'Lodestone' },
    { value: 'anonymous', label: 'Not signed in' },
    ...(accounts ?? []).map(({ id, email }) => ({ value: `account:${id}`, label: email })),
  ];
  return <Select label="Who" onChange={(event) => onChange(event.target.value)} options={options} value={value} />;
}
