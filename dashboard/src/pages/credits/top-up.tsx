/** Adds credit through the payment processor, or shows the operator's instructions if there is none. */
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { api, isApiError } from '../../api/client.js';
import type { TopUpOffer } from '../../api/usage-types.js';
import { Button, buttonClass } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { Input } from '../../components/field.js';
import { messageOf, Notice } from '../../components/states.js';
import { usd } from '../../format/money.js';
import { useSession } from '../../layout/session-context.js';

const presets = ['10', '25', '50', '100'];

export function TopUp({ topUp }: { topUp: TopUpOffer }) {
  const { operator, account } = useSession();
  if (!topUp.available) {
    return (
      <Card title="Who adds credit">
        <p className="text-ink-2">{topUp.message}</p>
        {operator && (
          <Link className={buttonClass('primary', 'normal', 'mt-3')} params={{ id: account.id }} to="/accounts/$id">
            Add credit to this account
          </Link>
        )}
      </Card>
    );
  }
  return (
    <Card title="Add credit">
      <TopUpForm topUp={topUp} />
      <p className="mt-3 text-sm text-ink-3">{topUp.message}</p>
    </Card>
  );
}

function TopUpForm({ topUp: { min_usd: min = '0', max_usd: max = '0' } }: { topUp: TopUpOffer }) {
  const [amount, setAmount] = useState('25');
  const attempt = useAttempt(amount);
  const checkout = useMutation({
    mutationFn: () =>
      api<{ url: string }>('credits/checkout', {
        method: 'POST',
        body: { amount_usd: amount.trim(), attempt: attempt.id() },
      }),
    onSuccess: ({ url }) => window.location.assign(url),
    onError: (fault) => isApiError(fault) && fault.status > 0 && attempt.end(),
  });
  useComeBack(() => {
    attempt.end();
    checkout.reset();
  });
  const { error } = checkout;
  const atAmount = isApiError(error) && error.param === 'amount_usd';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!checkout.isPending) checkout.mutate();
  };
  return (
    <form className="flex flex-col gap-3" noValidate onSubmit={submit}>
      {error !== null && !atAmount && <Notice>{messageOf(error)}</Notice>}
      <fieldset className="flex flex-wrap gap-2">
        <legend className="sr-only">Usual amounts</legend>
        {presets.map((preset) => (
          <Button
            aria-pressed={amount === preset}
            className="aria-pressed:border-accent aria-pressed:text-accent"
            key={preset}
            onClick={() => setAmount(preset)}
            size="small"
          >
            ${preset}
          </Button>
        ))}
      </fieldset>
      <Input
        autoComplete="off"
        error={atAmount ? `Enter an amount in whole cents, from ${usd(min)} to ${usd(max)}.` : null}
        hint={`In US dollars, from ${usd(min)} to ${usd(max)}.`}
        inputMode="decimal"
        label="Amount"
        onChange={(event) => setAmount(event.target.value)}
        value={amount}
      />
      <Button
        busy={checkout.isPending || checkout.isSuccess}
        className="self-start"
        disabled={amount.trim() === ''}
        type="submit"
        variant="primary"
      >
        Add credit
      </Button>
    </form>
  );
}

/**
 * The idempotency key stays the same for the same amount, so that a retry after a lost response opens no second checkout. After a
 * refusal it changes: the processor repeats its refusal for the same key.
 */
function useAttempt(amount: string) {
  const last = useRef({ amount: '', id: '' });
  return {
    id: () => {
      if (last.current.amount !== amount) last.current = { amount, id: randomId() };
      return last.current.id;
    },
    end: () => {
      last.current = { amount: '', id: '' };
    },
  };
}

/** Resets the button if the browser restores this page from its cache after the visit to the processor. */
function useComeBack(begin: () => void): void {
  useEffect(() => {
    const shown = ({ persisted }: PageTransitionEvent) => persisted && begin();
    window.addEventListener('pageshow', shown);
    return () => window.removeEventListener('pageshow', shown);
  }, [begin]);
}

/** Not `randomUUID`, which browsers offer only on https pages. */
function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
