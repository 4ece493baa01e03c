/** A form that sends one change. An error of the gateway appears at its field, or above the fields; a rate limit counts down. */
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { isApiError } from '../api/client.js';
import { Button } from './button.js';
import { classNames } from './class-names.js';
import { messageOf, Notice } from './states.js';

/** The error that belongs to a field, by the name of its parameter. */
export type ErrorAt = (param: string) => string | null;

/** A mutation without input. */
export interface Change<Out> {
  error: Error | null;
  isPending: boolean;
  mutate: (input: undefined, options: { onSuccess: (answer: Out) => void }) => void;
}

export interface ChangeFormProps<Out> {
  change: Change<Out>;
  onDone?: ((answer: Out) => void) | undefined;
  /** The error parameters that have a field in this form. */
  params: readonly string[];
  /** The label of the button. */
  action: string;
  disabled?: boolean;
  /** `full`: the button is as wide as the form. */
  button?: 'full' | 'start';
  /** Places the button among others. */
  actions?: (button: ReactNode) => ReactNode;
  /** Tells password managers whose password it is, where the form has no field for the email. */
  username?: string;
  className?: string;
  children: (at: ErrorAt) => ReactNode;
}

export function ChangeForm<Out>(props: ChangeFormProps<Out>) {
  const { change, onDone, params, action, disabled, button = 'full', actions, username, className, children } = props;
  const { error } = change;
  const at: ErrorAt = (param) => (isApiError(error) && error.param === param ? error.message : null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!change.isPending) change.mutate(undefined, { onSuccess: (answer) => onDone?.(answer) });
  };
  const submitButton = (
    <Button
      busy={change.isPending}
      className={actions ? undefined : button === 'full' ? 'w-full' : 'self-start'}
      disabled={disabled}
      type="submit"
      variant="primary"
    >
      {action}
    </Button>
  );
  return (
    <form className={classNames('flex flex-col gap-4', className)} noValidate onSubmit={submit}>
      {username !== undefined && <input autoComplete="username" hidden readOnly type="email" value={username} />}
      {error && !params.some(at) && <FormError error={error} />}
      {children(at)}
      {actions ? actions(submitButton) : submitButton}
    </form>
  );
}

function FormError({ error }: { error: Error }) {
  const wait = useCountdown(isApiError(error) ? (error.retryAfterSeconds ?? 0) : 0, error);
  return (
    <Notice>
      {messageOf(error)}
      {wait > 0 && <span className="tabular"> You can try again in {wait} s.</span>}
    </Notice>
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
