/** What a payer sees after returning. It confirms the payment only after the processor has reported it. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { checkoutQuery, confirmsMax } from '../../api/queries.js';
import { messageOf } from '../../components/states.js';
import { usd } from '../../format/money.js';

export function PaymentReturn() {
  const { payment } = useSearch({ strict: false }) as { payment?: unknown };
  if (typeof payment !== 'string') return null;
  if (payment === 'cancelled') return <Message>The payment was cancelled. Nothing was charged.</Message>;
  return <Confirmation id={payment} />;
}

function Confirmation({ id }: { id: string }) {
  const { data, error, asked } = useConfirmed(id);
  if (data?.state === 'credited') {
    return <Message tone="good">Payment received: {usd(data.amount_usd ?? '0')} was added to your balance.</Message>;
  }
  if (error !== null && data === undefined) return <Message>{messageOf(error)}</Message>;
  return asked >= confirmsMax ? (
    <Message>
      The payment is still being confirmed. Some ways to pay take days; credit is added by itself when the payment is
      confirmed, and you need not wait here.
    </Message>
  ) : (
    <Message>The payment is being confirmed. Credit is added then, usually within seconds.</Message>
  );
}

/** Reads all balances again once the payment is credited. */
function useConfirmed(id: string) {
  const client = useQueryClient();
  const query = useQuery(checkoutQuery(id));
  const credited = query.data?.state === 'credited';
  useEffect(() => {
    if (!credited) return;
    for (const key of ['credits', 'ledger', 'session']) void client.invalidateQueries({ queryKey: [key] });
  }, [client, credited]);
  return { data: query.data, error: query.error, asked: client.getQueryState(['checkout', id])?.dataUpdateCount ?? 0 };
}

function Message({ tone = 'neutral', children }: { tone?: 'neutral' | 'good'; children: ReactNode }) {
  const tones = { neutral: 'bg-sunken text-ink-2', good: 'bg-good-soft text-good' };
  return (
    <div className={`mb-5 rounded-lg px-4 py-3 ${tones[tone]}`} role="status">
      {children}
    </div>
  );
}
