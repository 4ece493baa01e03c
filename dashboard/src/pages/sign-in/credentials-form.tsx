/** A form for email and password. An error appears at its field, and a rate limit counts down. */
import { useMutation } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { api, isApiError } from '../../api/client.js';
import { beginSession } from '../../api/queries.js';
import type { Session } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { Input } from '../../components/field.js';
import { Notice } from '../../components/states.js';

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
  const [shown, setShown] = useState(false);
  const { history } = useRouter();
  const enter = useMutation({
    mutationFn: () => api<Session>(path, { method: 'POST', body: { email, password } }),
    onSuccess: (session) => {
      beginSession(session);
      history.replace(next);
    },
  });
  const error = isApiError(enter.error) ? enter.error : null;
  const wait = useCountdown(error?.retryAfterSeconds ?? 0, error);
  const at = (param: string) => (error?.param === param ? error.message : null);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!enter.isPending) enter.mutate();
  };
  return (
    <form className="flex flex-col gap-4" noValidate onSubmit={submit}>
      {error && !at('email') && !at('password') && (
        <Notice>
          {error.message}
          {wait > 0 && <span className="tabular"> You can try again in {wait} s.</span>}
        </Notice>
      )}
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
      <Input
        action={
          <button
            aria-pressed={shown}
            className="rounded-sm text-sm text-ink-3 hover:text-ink"
            onClick={() => setShown(!shown)}
            type="button"
          >
            {shown ? 'Hide' : 'Show'}
          </button>
        }
        autoComplete={newPassword ? 'new-password' : 'current-password'}
        error={at('password')}
        hint={newPassword ? 'At least 8 characters.' : undefined}
        label="Password"
        name="password"
        onChange={(event) => setPassword(event.target.value)}
        required
        type={shown ? 'text' : 'password'}
        value={password}
      />
      <Button busy={enter.isPending} className="mt-1 w-full" type="submit" variant="primary">
        {action}
      </Button>
    </form>
  );
}

/** Counts whole seconds down to zero; restarts with each `start`. */
function useCountdown(seconds: number, start: unknown): number {
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    setLeft(start ? seconds : 0);
    const timer = setInterval(() => setLeft((now) => Math.max(0, now - 1)), 1000);
    return () => clearInterval(timer);
  }, [seconds, start]);
  return left;
}
