/** Sets the balance below which the owner gets a notice. */
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.js';
import { useChange } from '../../api/queries.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { Input } from '../../components/field.js';
import { messageOf } from '../../components/states.js';
import { useToast } from '../../components/toast.js';
import { useLack, WhyNot } from '../../components/why-not.js';

export function NoticeThreshold({ threshold }: { threshold: string }) {
  const [amount, setAmount] = useState(threshold);
  const lack = useLack('credits.change');
  const say = useToast();
  const save = useChange(
    () => api('credits/notice', { method: 'PUT', body: { low_balance_usd: amount.trim() } }),
    [['credits'], ['session']],
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!save.isPending) save.mutate(undefined, { onSuccess: () => say('Low-balance notice saved.') });
  };
  return (
    <Card title="Low-balance notice">
      <form className="flex flex-wrap items-start gap-3" noValidate onSubmit={submit}>
        <Input
          autoComplete="off"
          className="min-w-0 flex-1 basis-56"
          error={save.isError ? messageOf(save.error) : null}
          hint="In US dollars. Below it, every page shows a notice. 0 turns it off."
          disabled={lack !== null}
          inputMode="decimal"
          label="Notify below"
          onChange={(event) => setAmount(event.target.value)}
          value={amount}
        />
        <Button
          busy={save.isPending}
          className="sm:mt-6.5"
          disabled={lack !== null || amount.trim() === '' || amount.trim() === threshold}
          type="submit"
        >
          Save notice
        </Button>
      </form>
      {lack !== null && <WhyNot className="mt-2" reason={lack} />}
    </Card>
  );
}
