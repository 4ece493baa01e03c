/** Changes the password, which ends every other session of the account. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { sessionQuery, useChange } from '../../api/queries.js';
import type { Session } from '../../api/types.js';
import { Card } from '../../components/card.js';
import { ChangeForm } from '../../components/change-form.js';
import { NewPasswordInput, PasswordInput } from '../../components/credential-inputs.js';
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
  const done = (session: Session) => {
    client.setQueryData(sessionQuery.queryKey, session);
    setCurrent('');
    setNext('');
    say('Password changed. All other sessions have ended.');
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
      <ChangeForm
        action={hasPassword ? 'Change password' : 'Set password'}
        button="start"
        change={change}
        className="max-w-sm"
        onDone={done}
        params={['current_password', 'new_password']}
        username={account.email}
      >
        {(at) => (
          <>
            {hasPassword && (
              <PasswordInput
                autoComplete="current-password"
                error={at('current_password')}
                label="Current password"
                onChange={setCurrent}
                value={current}
              />
            )}
            <NewPasswordInput error={at('new_password')} onChange={setNext} value={next} />
          </>
        )}
      </ChangeForm>
    </Card>
  );
}
