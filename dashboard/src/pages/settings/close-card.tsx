/** Closes the account for good, and says first what that means. */
import { useState } from 'react';
import { api } from '../../api/client.js';
import { useChange } from '../../api/queries.js';
import { Amount } from '../../components/amount.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { PasswordInput } from '../../components/credential-inputs.js';
import { Input } from '../../components/field.js';
import { FormDialog } from '../../components/form-dialog.js';
import { useLack, WhyNot } from '../../components/why-not.js';
import { useSession } from '../../layout/session-context.js';

export function CloseCard() {
  const lack = useLack('account.close');
  const [closing, setClosing] = useState(false);
  return (
    <Card description="This cannot be undone. Only an owner can do it." title="Close the account">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button disabled={lack !== null} onClick={() => setClosing(true)} variant="danger">
          Close account
        </Button>
        {lack !== null && <WhyNot reason={lack} />}
      </div>
      {closing && <CloseDialog onClose={() => setClosing(false)} />}
    </Card>
  );
}

function CloseDialog({ onClose }: { onClose: () => void }) {
  const { account, has_password: hasPassword, sign_in: ways } = useSession();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const asksForPassword = hasPassword && ways.password;
  const close = useChange(
    () => api('account', { method: 'DELETE', body: { email, ...(asksForPassword && { password }) } }),
    [],
  );
  return (
    <FormDialog
      action="Close account"
      change={close}
      description={
        <>
          All API keys, credentials, members and invitations of{' '}
          <strong className="wrap-anywhere">{account.email}</strong> are deleted, and programs stop working at once. The
          ledger, requests, receipts and the audit log stay; the account’s email and name are erased.{' '}
          {account.balance_usd !== null && (
            <>
              The balance of <Amount as="total" usd={account.balance_usd} /> is not paid out: ask the operator before
              you close the account.{' '}
            </>
          )}
          This cannot be undone.
        </>
      }
      onClose={onClose}
      onDone={() => window.location.assign('/dashboard/')}
      open
      params={['email', 'password']}
      title="Close this account?"
    >
      {(at) => (
        <>
          <Input
            autoComplete="off"
            error={at('email')}
            label="Email of the account"
            onChange={(event) => setEmail(event.target.value)}
            required
            value={email}
          />
          {asksForPassword && (
            <PasswordInput
              autoComplete="current-password"
              error={at('password')}
              label="Your password"
              onChange={setPassword}
              value={password}
            />
          )}
        </>
      )}
    </FormDialog>
  );
}
