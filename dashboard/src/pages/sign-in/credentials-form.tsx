/** A form for email and password, which begins a session. */
import { useMutation } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import { beginSession } from '../../api/queries.js';
import type { Session } from '../../api/types.js';
import { ChangeForm } from '../../components/change-form.js';
import { EmailInput, NewPasswordInput, PasswordInput } from '../../components/credential-inputs.js';

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
  const { history } = useRouter();
  const enter = useMutation({
    mutationFn: () => api<Session>(path, { method: 'POST', body: { email, password } }),
    onSuccess: (session) => {
      beginSession(session);
      history.replace(next);
    },
  });
  return (
    <ChangeForm action={action} change={enter} params={['email', 'password']}>
      {(at) => {
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
