/** Creates an account; with a password its owner can sign in. */
import { useState } from 'react';
import { api } from '../../api/client.js';
import { useChange } from '../../api/queries.js';
import { Input } from '../../components/field.js';
import { FormDialog } from '../../components/form-dialog.js';
import { useToast } from '../../components/toast.js';

export function CreateAccountDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const say = useToast();
  const create = useChange(
    () => api('operator/accounts', { method: 'POST', body: { email: email.trim(), ...(password && { password }) } }),
    [['operator', 'accounts']],
  );
  const done = () => {
    say(`${email.trim()} now has an account.`);
    setEmail('');
    setPassword('');
  };
  return (
    <FormDialog
      action="Create"
      change={create}
      onClose={onClose}
      onDone={done}
      open={open}
      params={['email', 'password']}
      title="Create account"
    >
      {(at) => (
        <>
          <Input
            autoComplete="off"
            autoFocus
            error={at('email')}
            label="Email"
            onChange={(event) => setEmail(event.target.value)}
            required
            type="email"
            value={email}
          />
          <Input
            autoComplete="new-password"
            error={at('password')}
            hint="Optional. Without a password the account can use API keys but not sign in."
            label="First password"
            onChange={(event) => setPassword(event.target.value)}
            type="password"
            value={password}
          />
        </>
      )}
    </FormDialog>
  );
}
