/** A form for email and password, which begins a session. An account with two-factor sign-in is asked for a code then. */
import { useMutation } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { api, isApiError } from '../../api/client.js';
import { beginSession } from '../../api/queries.js';
import type { Session } from '../../api/types.js';
import { ChangeForm } from '../../components/change-form.js';
import { CodeInput, EmailInput, NewPasswordInput, PasswordInput } from '../../components/credential-inputs.js';

export interface CredentialsFormProps {
  /** The API call, and the label of the button. */
  path: 'sign-in' | 'sign-up';
  action: string;
  newPassword?: boolean;
  /** Where to go after success. */
  next: string;
}

export function CredentialsForm({ path, action, newPassword, next }: CredentialsFormProps) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const { history } = useRouter();
  const [asksForCode, setAsksForCode] = useState(false);
  const enter = useMutation({
    mutationFn: () => api<Session>(path, { method: 'POST', body: { email, password, ...(asksForCode && { code }) } }),
    onSuccess: (session) => {
      beginSession(session);
      history.replace(next);
    },
    onError: (error) => {
      if (isApiError(error) && error.code === 'two_factor_required') setAsksForCode(true);
    },
  });
  // The question for a code is no fault of the reader.
  const codeError =
    isApiError(enter.error) && enter.error.code === 'two_factor_code_wrong' ? enter.error.message : null;
  return (
    <ChangeForm action={action} change={enter} params={['email', 'password', 'code']}>
      {(at) => {
        if (asksForCode) return <CodeInput autoFocus error={codeError} onChange={setCode} value={code} />;
        const field = { error: at('password'), label: 'Password', onChange: setPassword, value: password };
        return (
          <>
            <EmailInput autoFocus error={at('email')} onChange={setEmail} value={email} />
            {newPassword ? (
              <NewPasswordInput {...field} />
            ) : (
              <PasswordInput {...field} autoComplete="current-password" />
            )}
          </>
        );
      }}
    </ChangeForm>
  );
}
