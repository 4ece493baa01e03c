/** A field for a password that can be shown. */
import { useState } from 'react';
import { Input } from '../../components/field.js';

export interface PasswordInputProps {
  label: string;
  autoComplete: 'current-password' | 'new-password';
  autoFocus?: boolean;
  error: string | null;
  hint?: string | undefined;
  value: string;
  onChange: (value: string) => void;
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
      name="password"
      onChange={(event) => onChange(event.target.value)}
      required
      type={shown ? 'text' : 'password'}
    />
  );
}
