/** Before an account without a password signs out: nobody could sign in to it again. It asks for a password first. */
import { type FormEvent, useState } from 'react';
import { api, isApiError } from '../api/client.js';
import { useChange } from '../api/queries.js';
import { Button } from '../components/button.js';
import { Dialog, DialogActions } from '../components/dialog.js';
import { Input } from '../components/field.js';
import { messageOf, Notice } from '../components/states.js';
import { useSession } from './session-context.js';

export interface SignOutDialogProps {
  open: boolean;
  onClose: () => void;
  onSignOut: () => void;
}

export function SignOutDialog({ open, onClose, onSignOut }: SignOutDialogProps) {
  const { account } = useSession();
  const [password, setPassword] = useState('');
  const change = useChange(() => api('change-password', { method: 'POST', body: { new_password: password } }), []);
  const { error } = change;
  const atField = isApiError(error) && error.param === 'new_password';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!change.isPending) change.mutate(undefined, { onSuccess: onSignOut });
  };
  return (
    <Dialog
      description={`${account.email} has no password. If you sign out now, only the operator can give it one, with "lodestone account password ${account.email}".`}
      onClose={onClose}
      open={open}
      title="Set a password before you sign out"
    >
      <form className="flex flex-col gap-4" noValidate onSubmit={submit}>
        <input autoComplete="username" hidden readOnly type="email" value={account.email} />
        {error && !atField && <Notice>{messageOf(error)}</Notice>}
        <Input
          autoComplete="new-password"
          autoFocus
          error={atField ? messageOf(error) : null}
          hint="At least 8 characters."
          label="New password"
          onChange={(event) => setPassword(event.target.value)}
          required
          type="password"
          value={password}
        />
        <DialogActions>
          <Button onClick={onSignOut} variant="ghost">
            Sign out without a password
          </Button>
          <Button busy={change.isPending} disabled={password === ''} type="submit" variant="primary">
            Set password and sign out
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
