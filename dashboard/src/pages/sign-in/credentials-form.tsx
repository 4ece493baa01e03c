/** A form for email and password. An error appears at its field, and a rate limit counts down. */
import { useMutation } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, isApiError } from '../../api/client.js';
import { beginSession } from '../../api/queries.js';
import type { Session } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { Input } from '../../components/field.js';
import { EntryError } from './entry-error.js';
import { PasswordInput } from './password-input.js';

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
  const error = isApiError(enter.error) ? enter.error : null;
  const at = (param: string) => (error?.param === param ? error.message : null);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!enter.isPending) enter.mutate();
  };
  return (
    <form className="flex flex-col gap-4" noValidate onSubmit={submit}>
      {error && !at('email') && !at('password') && <EntryError error={error} />}
      <Input
        autoComplete="username"
        autoFocus
        error={at('email')}
        inputMode="email"
        label="Email"
        name="email"
        onChange={(event) => setEmail(event.target.value)}
        required
        type="email"
        value={email}
      />
      <PasswordInput
        autoComplete={newPassword ? 'new-password' : 'current-password'}
        error={at('password')}
        hint={newPassword ? 'At least 8 characters.' : undefined}
        label="Password"
        onChange={setPassword}
        value={password}
      />
      <Button busy={enter.isPending} className="mt-1 w-full" type="submit" variant="primary">
        {action}
      </Button>
    </form>
  );
}
