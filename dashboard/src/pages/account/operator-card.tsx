/** Gets operator rights for this session with the admin token, and drops them. */
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.js';
import { sessionQuery, useChange } from '../../api/queries.js';
import type { Session } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { Input } from '../../components/field.js';
import { messageOf } from '../../components/states.js';
import { useToast } from '../../components/toast.js';
import { useSession } from '../../layout/session-context.js';

export function OperatorCard() {
  const { operator, operator_by: by } = useSession();
  const [token, setToken] = useState('');
  const client = useQueryClient();
  const say = useToast();
  const change = useChange(
    (wanted: boolean) =>
      wanted
        ? api<Session>('operator', { method: 'POST', body: { admin_token: token.trim() } })
        : api<Session>('operator', { method: 'DELETE' }),
    [],
  );
  const set = (wanted: boolean) =>
    change.mutate(wanted, {
      onSuccess: (session) => {
        client.setQueryData(sessionQuery.queryKey, session);
        setToken('');
        say(wanted ? 'You are now an operator in this session.' : 'You are no longer an operator.');
      },
    });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!change.isPending) set(true);
  };
  if (operator && by === 'account') {
    return (
      <Card title="Operator">
        <p className="text-ink-2">
          This account is an operator. The pages under “Operator” in the menu are open to it.
        </p>
      </Card>
    );
  }
  if (operator) {
    return (
      <Card title="Operator">
        <p className="text-ink-2">This session has operator rights through the admin token.</p>
        <Button busy={change.isPending} className="mt-3" onClick={() => set(false)}>
          Drop operator rights
        </Button>
      </Card>
    );
  }
  return (
    <Card
      description="Enter the admin token to open the operator pages. Lasts 12 hours, or until you sign out."
      title="Operator"
    >
      <form className="flex max-w-sm flex-col gap-3" noValidate onSubmit={submit}>
        <Input
          autoComplete="off"
          error={change.isError ? messageOf(change.error) : null}
          label="Admin token"
          onChange={(event) => setToken(event.target.value)}
          type="password"
          value={token}
        />
        <Button busy={change.isPending} className="self-start" disabled={!token.trim()} type="submit">
          Become an operator
        </Button>
      </form>
    </Card>
  );
}
