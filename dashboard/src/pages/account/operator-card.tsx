/** Gets operator rights for this session with the admin token, and drops them. */
import { useQueryClient } from '@tanstack/react-query';
import { useRouterState } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { sessionQuery, useChange } from '../../api/queries.js';
import type { Session } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { ChangeForm } from '../../components/change-form.js';
import { Input } from '../../components/field.js';
import { Notice } from '../../components/states.js';
import { useToast } from '../../components/toast.js';
import { useSession } from '../../layout/session-context.js';

/** `#operator` in the address shows the form to whoever has the admin token; nobody else needs to know of it. */
export function OperatorCard() {
  const isAsked = useRouterState({ select: ({ location }) => location.hash === 'operator' });
  const { operator, operator_by: by, two_factor: twoFactor, opened_by, ...session } = useSession();
  const isNeeded = session.operators_need_two_factor;
  if (isNeeded && opened_by === 'provider' && by !== null && !operator) {
    return (
      <Card title="Operator">
        <Notice tone="warn">
          Operators of this gateway need two-factor sign-in. Your identity provider did not say that you have shown a
          second factor. Sign out, and sign in with it.
        </Notice>
      </Card>
    );
  }
  if (isNeeded && !twoFactor && opened_by === 'password' && (by !== null || isAsked)) {
    return (
      <Card title="Operator">
        <Notice tone="warn">
          Operators of this gateway need two-factor sign-in. Turn it on under “Two-factor sign-in” on this page
          {by === null ? ', then enter the admin token.' : ' to use the operator pages.'}
        </Notice>
      </Card>
    );
  }
  if (operator && by === 'group') {
    return (
      <Card title="Operator">
        <p className="text-ink-2">A group at your identity provider makes you an operator in this session.</p>
      </Card>
    );
  }
  if (operator && by === 'account') {
    return (
      <Card title="Operator">
        <p className="text-ink-2">
          This account is an operator. The pages under “Operator” in the menu are open to it.
        </p>
      </Card>
    );
  }
  if (operator) return <DropRights />;
  return isAsked ? <BecomeOperator /> : null;
}

function DropRights() {
  const client = useQueryClient();
  const say = useToast();
  const drop = useChange(() => api<Session>('operator', { method: 'DELETE' }), []);
  const done = (session: Session) => {
    client.setQueryData(sessionQuery.queryKey, session);
    say('You are no longer an operator.');
  };
  return (
    <Card title="Operator">
      <p className="text-ink-2">This session has operator rights through the admin token.</p>
      <Button busy={drop.isPending} className="mt-3" onClick={() => drop.mutate(undefined, { onSuccess: done })}>
        Drop operator rights
      </Button>
    </Card>
  );
}

function BecomeOperator() {
  const [token, setToken] = useState('');
  const client = useQueryClient();
  const say = useToast();
  const show = useChange(() => api<Session>('operator', { method: 'POST', body: { admin_token: token.trim() } }), []);
  const done = (session: Session) => {
    client.setQueryData(sessionQuery.queryKey, session);
    say('You are now an operator in this session.');
  };
  return (
    <Card
      description="Enter the admin token to open the operator pages. Lasts 12 hours, or until you sign out."
      title="Operator"
    >
      <ChangeForm
        action="Become an operator"
        button="start"
        change={show}
        className="max-w-sm"
        disabled={!token.trim()}
        onDone={done}
        params={['admin_token']}
      >
        {(at) => (
          <Input
            autoComplete="off"
            error={at('admin_token')}
            label="Admin token"
            onChange={(event) => setToken(event.target.value)}
            type="password"
            value={token}
          />
        )}
      </ChangeForm>
    </Card>
  );
}
