/** Opens an operator's session with the admin token, for when no identity provider can. */
import { useMutation } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { beginSession } from '../../api/queries.js';
import type { Session } from '../../api/types.js';
import { ChangeForm } from '../../components/change-form.js';
import { Input } from '../../components/field.js';

export function AdminTokenForm() {
  const [token, setToken] = useState('');
  const { history } = useRouter();
  const open = useMutation({
    mutationFn: () => api<Session>('sign-in/admin-token', { method: 'POST', body: { token: token.trim() } }),
    onSuccess: (session) => {
      beginSession(session);
      history.replace('/dashboard/service');
    },
  });
  return (
    <details className="mt-4 text-sm">
      <summary className="w-fit cursor-pointer rounded-sm text-ink-3 hover:text-ink">Use the admin token</summary>
      <div className="mt-3">
        <ChangeForm action="Open the operator pages" change={open} disabled={!token.trim()} params={['token']}>
          {(at) => (
            <Input
              autoComplete="off"
              error={at('token')}
              label="Admin token"
              onChange={(event) => setToken(event.target.value)}
              type="password"
              value={token}
            />
          )}
        </ChangeForm>
      </div>
    </details>
  );
}
