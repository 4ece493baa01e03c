/** The fields with which people sign in: an email, a password that can be shown, and a code. */
import { useState } from 'react';
import { Input } from './field.js';

interface CredentialInputProps {
  autoFocus?: boolean;
  error: string | null;
  value: string;
  onChange: (value: string) => void;
}

export function EmailInput({ onChange, ...field }: CredentialInputProps) {
  return (
    <Input
      {...field}
      autoComplete="username"
      inputMode="email"
      label="Email"
      name="email"
      onChange={(event) => onChange(event.target.value)}
      required
      type="email"
    />
  );
}

export interface PasswordInputProps extends CredentialInputProps {
  label: string;
  autoComplete: 'current-password' | 'new-password';
  hint?: string | undefined;
}

export function PasswordInput({ onChange, ...field }: PasswordInputProps) {
  const [shown, setShown] = useState(false);
  return (
    <Input
      {...field}
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
      name={field.autoComplete}
      onChange={(event) => onChange(event.target.value)}
      required
      type={shown ? 'text' : 'password'}
    />
  );
}

/** `isFirst`: of a set-up, before there are recovery codes. */
export function CodeInput({ onChange, isFirst, ...field }: CredentialInputProps & { isFirst?: boolean }) {
  return (
    <Input
      {...field}
      autoCapitalize="off"
      autoComplete="one-time-code"
      hint={`The six digits that your authenticator app shows${isFirst ? '.' : ', or a recovery code.'}`}
      label="Code"
      name="code"
      onChange={(event) => onChange(event.target.value)}
      required
    />
  );
}

/** A password to be set: the rule for its length is below the field. */
export function NewPasswordInput({
  label = 'New password',
  ...field
}: CredentialInputProps & { label?: string | undefined }) {
  return <PasswordInput {...field} autoComplete="new-password" hint="At least 8 characters." label={label} />;
}
