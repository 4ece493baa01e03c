/** Form fields: a visible label, a hint, and an error that screen readers announce with the control. */
import { useIsFetching } from '@tanstack/react-query';
import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  startTransition,
  type TextareaHTMLAttributes,
  useEffect,
  useId,
  useState,
} from 'react';
import { classNames } from './class-names.js';
import { SelectIcon } from './icons.js';

export const controlClass =
  'w-full rounded-md border border-field bg-surface px-3 text-base text-ink shadow-card transition-colors duration-100 enabled:hover:border-ink-3 focus-visible:outline-offset-0 aria-invalid:border-danger disabled:bg-sunken disabled:text-ink-3';

export interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  /** Something at the right end of the label's line. */
  action?: ReactNode;
  className?: string;
  /** Shows the label only to screen readers, where the layout makes it clear. */
  hideLabel?: boolean;
}

export interface ControlIds {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

/** The label of any control. `children` gets the attributes that connect the two. */
export function Field({
  label,
  hint,
  error,
  action,
  className,
  hideLabel,
  children,
}: FieldProps & { children: (ids: ControlIds) => ReactNode }) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className={classNames('flex flex-col gap-1.5', className)}>
      <div className={hideLabel ? 'sr-only' : 'flex items-baseline justify-between gap-3'}>
        <label className="text-sm font-medium text-ink" htmlFor={id}>
          {label}
        </label>
        {action}
      </div>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {hint && (
        <p className="text-sm text-ink-3" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p className="text-sm text-danger" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

type Plain<T> = Omit<T, 'className' | 'id'>;

export function Input({
  label,
  hint,
  error,
  action,
  className,
  hideLabel,
  ...rest
}: FieldProps & Plain<InputHTMLAttributes<HTMLInputElement>>) {
  return (
    <Field {...{ label, hint, error, action, className, hideLabel }}>
      {(ids) => <input className={classNames(controlClass, 'h-9 pointer-coarse:h-11')} {...rest} {...ids} />}
    </Field>
  );
}

export function Textarea({
  label,
  hint,
  error,
  action,
  className,
  hideLabel,
  ...rest
}: FieldProps & Plain<TextareaHTMLAttributes<HTMLTextAreaElement>>) {
  return (
    <Field {...{ label, hint, error, action, className, hideLabel }}>
      {(ids) => <textarea className={classNames(controlClass, 'resize-y py-2')} {...rest} {...ids} />}
    </Field>
  );
}

export interface Option {
  value: string;
  label: string;
}

/** The native select: best on a phone, by keyboard and for screen readers. */
export function Select({
  label,
  hint,
  error,
  action,
  className,
  hideLabel,
  options,
  ...rest
}: FieldProps & Plain<SelectHTMLAttributes<HTMLSelectElement>> & { options: readonly Option[] }) {
  const { shown, showAll } = useLateOptions(options, rest.value);
  return (
    <Field {...{ label, hint, error, action, className, hideLabel }}>
      {(ids) => (
        <span className="relative">
          <select
            className={classNames(controlClass, 'h-9 appearance-none truncate pr-9 pointer-coarse:h-11')}
            onFocus={showAll}
            onPointerDown={showAll}
            {...rest}
            {...ids}
          >
            {shown.map((option) => (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            ))}
          </select>
          <SelectIcon className="pointer-events-none absolute top-1/2 right-2.5 size-4 -translate-y-1/2 text-ink-3" />
        </span>
      )}
    </Field>
  );
}

const fewOptions = 40;
const laterMs = 100;

/**
 * A thousand options take the browser as long as the rest of a page. Until the page has read its data, a long list has the chosen option
 * alone; whoever opens it earlier gets all.
 */
function useLateOptions(options: readonly Option[], value: unknown) {
  const [isAll, setAll] = useState(false);
  const isReading = useIsFetching() > 0;
  const isLate = !isAll && value !== undefined && options.length > fewOptions;
  useEffect(() => {
    if (!isLate || isReading) return;
    const timer = setTimeout(() => startTransition(() => setAll(true)), laterMs);
    return () => clearTimeout(timer);
  }, [isLate, isReading]);
  const shown = isLate ? options.filter((option) => option.value === value) : options;
  return { shown, showAll: () => setAll(true) };
}
