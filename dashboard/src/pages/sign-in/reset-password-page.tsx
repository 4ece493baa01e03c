/** Sets a new password with a link. The token is behind the `#`, so it never reaches a log. */
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { api, isApiError } from '../../api/client.js';
import { queryClient, sessionQuery } from '../../api/queries.js';
import { buttonClass } from '../../components/button.js';
import { ChangeForm } from '../../components/change-form.js';
import { NewPasswordInput } from '../../components/credential-inputs.js';
import { messageOf, Notice } from '../../components/states.js';
import { EntryFrame } from './entry-frame.js';

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
      <ChangeForm action="Change password" change={reset} params={['password']}>
        {(at) => <NewPasswordInput autoFocus error={at('password')} onChange={setPassword} value={password} />}
      </ChangeForm>
    </EntryFrame>
  );
}
