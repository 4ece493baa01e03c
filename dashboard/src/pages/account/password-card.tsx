/** Changes the password, which ends every other session of the account. */
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, isApiError } from '../../api/client.js';
import { sessionQuery, useChange } from '../../api/queries.js';
import type { Session } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { Input } from '../../components/field.js';
import { messageOf, Notice } from '../../components/states.js';
import { useToast } from '../../components/toast.js';
import { useSession } from '../../layout/session-context.js';

export function PasswordCard() {
  const { has_password: hasPassword, account } = useSession();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const client = useQueryClient();
  const say = useToast();
  const change = useChange(
    () =>
      api<Session>('change-password', {
        method: 'POST',
        body: { ...(hasPassword && { current_password: current }), new_password: next },
      }),
    [],
  );
  const error = change.error;
  const at = (param: string) => (isApiError(error) && error.param === param ? error.message : null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (change.isPending) return;
    change.mutate(undefined, {
      onSuccess: (session) => {
        client.setQueryData(sessionQuery.queryKey, session);
        setCurrent('');
        setNext('');
        say('Password changed. All other sessions have ended.');
      },
    });
  };
  return (
    <Card
      description={
        hasPassword
          ? 'This ends all other sessions of this account.'
          : 'With a password you can sign in again with your email.'
      }
      title={hasPassword ? 'Change password' : 'Set a password'}
    >
      <form className="flex max-w-sm flex-col gap-4" noValidate onSubmit={submit}>
        <input autoComplete="username" hidden readOnly type="email" value={account.email} />
        {error && !at('current_password') && !at('new_password') && <Notice>{messageOf(error)}</Notice>}
        {hasPassword && (
          <Input
            autoComplete="current-password"
            error={at('current_password')}
            label="Current password"
            onChange={(event) => setCurrent(event.target.value)}
            required
            type="password"
            value={current}
          />
        )}
        <Input
          autoComplete="new-password"
          error={at('new_password')}
          hint="At least 8 characters."
          label="New password"
          onChange={(event) => setNext(event.target.value)}
          required
          type="password"
          value={next}
        />
        <Button busy={change.isPending} className="self-start" type="submit" variant="primary">
          {hasPassword ? 'Change password' : 'Set password'}
        </Button>
      </form>
    </Card>
  );
}
