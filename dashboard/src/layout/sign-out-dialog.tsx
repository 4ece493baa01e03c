/** Before an account without a password signs out: nobody could sign in to it again. It asks for a password first. */
import { useState } from 'react';
import { api } from '../api/client.js';
import { useChange } from '../api/queries.js';
import { Button } from '../components/button.js';
import { ChangeForm } from '../components/change-form.js';
import { NewPasswordInput } from '../components/credential-inputs.js';
import { Dialog, DialogActions } from '../components/dialog.js';
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
  return (
    <Dialog
      description={`${account.email} has no password. If you sign out now, only the operator can give it one, with "lodestone account password ${account.email}".`}
      onClose={onClose}
      open={open}
      title="Set a password before you sign out"
    >
      <ChangeForm
        action="Set password and sign out"
        actions={(button) => (
          <DialogActions>
            <Button onClick={onSignOut} variant="ghost">
              Sign out without a password
            </Button>
            {button}
          </DialogActions>
        )}
        change={change}
        disabled={password === ''}
        onDone={onSignOut}
        params={['new_password']}
        username={account.email}
      >
        {(at) => <NewPasswordInput autoFocus error={at('new_password')} onChange={setPassword} value={password} />}
      </ChangeForm>
    </Dialog>
  );
}
