/** Asks for a link that resets a password. Where the gateway sends no mail, it says how the operator makes one. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { sessionQuery } from '../../api/queries.js';
import { ChangeForm } from '../../components/change-form.js';
import { CodeBlock } from '../../components/code-block.js';
import { EmailInput } from '../../components/credential-inputs.js';
import { Notice, SkeletonRows } from '../../components/states.js';
import { EntryFrame } from './entry-frame.js';

export function ForgotPasswordPage() {
  const { data: session } = useQuery(sessionQuery);
  return (
    <EntryFrame
      below={
        <Link className="font-medium text-accent underline underline-offset-2" to="/sign-in">
          Back to sign in
        </Link>
      }
      title="Forgot your password?"
    >
      {!session ? <SkeletonRows rows={2} /> : session.password_reset === 'mail' ? <LinkForm /> : <AskOperator />}
    </EntryFrame>
  );
}

function AskOperator() {
  return (
    <div className="flex flex-col gap-3 text-ink-2">
      <p>This gateway sends no mail. Its operator resets passwords: ask for a link with which you choose a new one.</p>
      <p>If you are the operator, run this and pass the link on. You can also set a password on the Accounts page.</p>
      <CodeBlock code="npx lodestone account reset-password <email>" label="Command for the operator" />
    </div>
  );
}

function LinkForm() {
  const [email, setEmail] = useState('');
  const ask = useMutation({ mutationFn: () => api('forgot-password', { method: 'POST', body: { email } }) });
  if (ask.isSuccess) {
    return (
      <Notice tone="neutral">
        If there is an account with this email and a password, a link is on its way. It works once, for 30 minutes. Look
        into your spam folder too.
      </Notice>
    );
  }
  return (
    <ChangeForm action="Send the link" change={ask} params={['email']}>
      {(at) => (
        <>
          <p className="text-ink-2">
            Enter the email of your account. You get a link with which you choose a new password.
          </p>
          <EmailInput autoFocus error={at('email')} onChange={setEmail} value={email} />
        </>
      )}
    </ChangeForm>
  );
}
