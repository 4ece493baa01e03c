/** Dialogs that add credit to an account and set its password. */
import { useState } from 'react';
import { api } from '../../api/client.js';
import { useChange } from '../../api/queries.js';
import { Input } from '../../components/field.js';
import { FormDialog } from '../../components/form-dialog.js';
import { useToast } from '../../components/toast.js';

interface AccountDialogProps {
  open: boolean;
  onClose: () => void;
  /** The account's path in the API. */
  path: string;
}

export function CreditDialog({ open, onClose, path }: AccountDialogProps) {
  const [amount, setAmount] = useState('');
  const [note, setNote] = useState('');
  const say = useToast();
  const credit = useChange(
    () =>
      api(`${path}/credits`, {
        method: 'POST',
        body: { amount_usd: amount.trim(), ...(note.trim() && { note: note.trim() }) },
      }),
    [['operator']],
  );
  const done = () => {
    say('Credit added.');
    setAmount('');
    setNote('');
  };
  return (
    <FormDialog
      action="Add credit"
      change={credit}
      description="A negative amount removes credit."
      onClose={onClose}
      onDone={done}
      open={open}
      params={['amount_usd', 'note']}
      title="Add credit"
    >
      {(at) => (
        <>
          <Input
            autoComplete="off"
            autoFocus
            error={at('amount_usd')}
            inputMode="decimal"
            label="Amount in USD"
            onChange={(event) => setAmount(event.target.value)}
            placeholder="10.00"
            value={amount}
          />
          <Input
            autoComplete="off"
            error={at('note')}
            hint="Shown in the ledger of the account."
            label="Note"
            onChange={(event) => setNote(event.target.value)}
            value={note}
          />
        </>
      )}
    </FormDialog>
  );
}

export function PasswordDialog({ open, onClose, path }: AccountDialogProps) {
  const [password, setPassword] = useState('');
  const say = useToast();
  const change = useChange(() => api(`${path}/password`, { method: 'PUT', body: { password } }), [['operator']]);
  const done = () => {
    say('Password set. All sessions of the account have ended.');
    setPassword('');
  };
  return (
    <FormDialog
      action="Set password"
      change={change}
      onClose={onClose}
      onDone={done}
      open={open}
      params={['password']}
      title="Set password"
    >
      {(at) => (
        <Input
          autoComplete="new-password"
          autoFocus
          error={at('password')}
          hint="At least 8 characters. Give it to the owner of the account."
          label="New password"
          onChange={(event) => setPassword(event.target.value)}
          type="password"
          value={password}
        />
      )}
    </FormDialog>
  );
}
