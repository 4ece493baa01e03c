/** The Credits page: balance, adding credit, and the ledger. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ledgerPages } from '../../api/pages.js';
import { creditsQuery } from '../../api/queries.js';
import type { DisplayAmounts, LedgerEntry } from '../../api/usage-types.js';
import { Amount } from '../../components/amount.js';
import { Badge, type Tone } from '../../components/badge.js';
import { Card } from '../../components/card.js';
import { CreditsIcon } from '../../components/icons.js';
import { MoreButton } from '../../components/more-button.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { Segmented } from '../../components/segmented.js';
import { Stat } from '../../components/stat.js';
import { EmptyState, ErrorState, Skeleton, SkeletonRows } from '../../components/states.js';
import { type Column, Table } from '../../components/table.js';
import { inCurrency, isNegative, isZero, signedUsd } from '../../format/money.js';
import { dateText, dateTime } from '../../format/time.js';
import { NoticeThreshold } from './notice-threshold.js';
import { PaymentReturn } from './payment-return.js';
import { TopUp } from './top-up.js';

export function Page() {
  const credits = useQuery(creditsQuery);
  return (
    <>
      <PageHeader
        description="Lodestone bills each request when it ends, to the last fraction of a cent. The balance is the sum of the ledger."
        title="Credits"
      />
      <PaymentReturn />
      <PageData query={credits} skeleton={<Skeleton className="h-32" />}>
        {(data) => (
          <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)] lg:grid-rows-[auto_1fr]">
            <Card>
              <dl className="grid grid-cols-[repeat(auto-fit,minmax(9.5rem,1fr))] gap-6">
                <Stat
                  label="Balance"
                  note={isNegative(data.balance_usd) || isZero(data.balance_usd) ? 'Requests are refused' : 'available'}
                  noteTone={isNegative(data.balance_usd) || isZero(data.balance_usd) ? 'bad' : 'neutral'}
                  value={<Amount as="total" usd={data.balance_usd} />}
                />
                <Stat
                  label="Credit added"
                  note={isZero(data.adjusted_usd) ? 'in total' : <>adjusted by {signedUsd(data.adjusted_usd)}</>}
                  value={<Amount as="total" usd={data.credited_usd} />}
                />
                <Stat label="Spend" note="in total" value={<Amount as="total" usd={data.total_usage_usd} />} />
              </dl>
              {data.display && <SecondCurrency display={data.display} />}
            </Card>
            <div className="min-w-0 lg:col-start-2 lg:row-span-2 lg:row-start-1">
              <TopUp topUp={data.top_up} />
            </div>
            <NoticeThreshold threshold={data.low_balance_usd} />
          </div>
        )}
      </PageData>
      <Ledger currency={credits.data?.display?.code ?? null} />
    </>
  );
}

const kinds = [
  { value: '', label: 'All' },
  { value: 'credit', label: 'Credit' },
  { value: 'usage', label: 'Usage' },
  { value: 'adjustment', label: 'Adjustments' },
  { value: 'statement', label: 'Statements' },
];

/** What is booked is in USD; these amounts are for reading. */
function SecondCurrency({ display }: { display: DisplayAmounts }) {
  const { code, rate, source, as_of: asOf, balance, credited, total_usage: spend } = display;
  return (
    <p className="mt-4 text-sm text-ink-3">
      {`Balance ${inCurrency(balance, code)}, credit added ${inCurrency(credited, code)}, spend ${inCurrency(spend, code)}, `}
      {`at ${rate} USD for 1 ${code} (${source}, ${dateText(asOf)}). Lodestone bills in USD.`}
    </p>
  );
}

function Ledger({ currency }: { currency: string | null }) {
  const [kind, setKind] = useState('');
  const pages = useInfiniteQuery(ledgerPages({ kind }));
  const rows = pages.data?.pages.flatMap(({ data }) => data);
  return (
    <div className="mt-5">
      <Card
        action={<Segmented label="Kind of entry" onChange={setKind} options={kinds} value={kind} />}
        flush
        title="Ledger"
      >
        {rows === undefined ? (
          pages.isError ? (
            <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />
          ) : (
            <SkeletonRows rows={6} />
          )
        ) : rows.length === 0 ? (
          <EmptyState icon={CreditsIcon} title="No entries">
            Credit that is added and requests that are billed appear here.
          </EmptyState>
        ) : (
          <>
            <Table caption="Ledger" columns={columnsWith(currency)} rowKey={({ id }) => id} rows={rows} />
            <MoreButton pages={pages} />
          </>
        )}
      </Card>
    </div>
  );
}

const tones: Record<LedgerEntry['kind'], Tone> = {
  ...{ credit: 'good', usage: 'neutral', adjustment: 'warn', statement: 'neutral' },
};

const columns: Column<LedgerEntry>[] = [
  {
    header: 'Time',
    lead: true,
    cell: ({ created_at: at }) => <span className="whitespace-nowrap">{dateTime(at)}</span>,
  },
  { header: 'Kind', cell: ({ kind }) => <Badge tone={tones[kind]}>{kind}</Badge> },
  {
    header: 'For',
    cell: ({ generation_id: id, note }) =>
      id ? (
        <Link
          className="font-mono text-xs whitespace-nowrap text-ink-2 underline decoration-field/60 underline-offset-4 hover:decoration-ink"
          params={{ id }}
          to="/usage/$id"
        >
          {id}
        </Link>
      ) : (
        <span className="wrap-anywhere text-ink-2">{note ?? ''}</span>
      ),
  },
  {
    header: 'Amount',
    end: true,
    cell: ({ amount_usd: amount }) => (
      <Amount
        as="row"
        className={isNegative(amount) || isZero(amount) ? 'text-ink' : 'text-good'}
        signed
        usd={amount}
      />
    ),
  },
  {
    header: 'Balance',
    end: true,
    cell: ({ balance_usd: balance }) => <Amount as="total" className="text-ink-2" usd={balance} />,
  },
];

function columnsWith(currency: string | null): Column<LedgerEntry>[] {
  if (currency === null) return columns;
  return [
    ...columns,
    {
      header: currency,
      end: true,
      cell: ({ amount_display: amount }) => (amount === undefined ? '' : inCurrency(amount, currency)),
    },
  ];
}
