/** Sets a new password with a link. The token is behind the `#`, so it never reaches a log. */
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { api, isApiError } from '../../api/client.js';
import { queryClient, sessionQuery } from '../../api/queries.js';
import { Button, buttonClass } from '../../components/button.js';
import { messageOf, Notice } from '../../components/states.js';
import { EntryError } from './entry-error.js';
import { EntryFrame } from './entry-frame.js';
import { PasswordInput } from './password-input.js';

export function ResetPasswordPage() {
  const [token] = useState(() => window.location.hash.slice(1));
  const [password, setPassword] = useState('');
  // The address bar and the history must not keep the token.
  useEffect(() => window.history.replaceState(window.history.state, '', window.location.pathname), []);
  const reset = useMutation({
    mutationFn: () => api('reset-password', { method: 'POST', body: { token, password } }),
    // A session of this browser has ended if it was one of the account.
    onSuccess: () => queryClient.removeQueries({ queryKey: sessionQuery.queryKey }),
  });
  const error = isApiError(reset.error) ? reset.error : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!reset.isPending) reset.mutate();
  };
  if (reset.isSuccess) {
    return (
      <EntryFrame lead="All sessions of the account have ended." title="Password changed">
        <Link className={buttonClass('primary')} to="/sign-in">
          Sign in
        </Link>
      </EntryFrame>
    );
  }
  if (token === '' || error?.code === 'reset_link_invalid') {
    return (
      <EntryFrame title="This link does not work">
        <div className="flex flex-col gap-4">
          <Notice>
            {error ? messageOf(error) : 'The link is not complete. Open it again as it stands in the mail.'}
          </Notice>
          <Link className={buttonClass('primary')} to="/forgot-password">
            Ask for a new link
          </Link>
        </div>
      </EntryFrame>
    );
  }
  return (
    <EntryFrame lead="This ends all sessions of the account." title="Choose a new password">
      <form className="flex flex-col gap-4" noValidate onSubmit={submit}>
        {error && error.param !== 'password' && <EntryError error={error} />}
        <PasswordInput
          autoComplete="new-password"
          autoFocus
          error={error?.param === 'password' ? error.message : null}
          hint="At least 8 characters."
          label="New password"
          onChange={setPassword}
          value={password}
        />
        <Button busy={reset.isPending} className="w-full" type="submit" variant="primary">
          Change password
        </Button>
      </form>
    </EntryFrame>
  );
}
