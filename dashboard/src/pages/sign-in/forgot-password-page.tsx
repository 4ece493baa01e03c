/** Asks for a link that resets a password. Where the gateway sends no mail, it says how the operator makes one. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, isApiError } from '../../api/client.js';
import { sessionQuery } from '../../api/queries.js';
import { Button } from '../../components/button.js';
import { CodeBlock } from '../../components/code-block.js';
import { Input } from '../../components/field.js';
import { Notice, SkeletonRows } from '../../components/states.js';
import { EntryError } from './entry-error.js';
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
  const error = isApiError(ask.error) ? ask.error : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!ask.isPending) ask.mutate();
  };
  if (ask.isSuccess) {
    return (
      <Notice tone="neutral">
        If there is an account with this email and a password, a link is on its way. It works once, for 30 minutes. Look
        into your spam folder too.
      </Notice>
    );
  }
  return (
    <form className="flex flex-col gap-4" noValidate onSubmit={submit}>
      <p className="text-ink-2">
        Enter the email of your account. You get a link with which you choose a new password.
      </p>
      {error && error.param !== 'email' && <EntryError error={error} />}
      <Input
        autoComplete="username"
        autoFocus
        error={error?.param === 'email' ? error.message : null}
        inputMode="email"
        label="Email"
        name="email"
        onChange={(event) => setEmail(event.target.value)}
        required
        type="email"
        value={email}
      />
      <Button busy={ask.isPending} className="w-full" type="submit" variant="primary">
        Send the link
      </Button>
    </form>
  );
}
