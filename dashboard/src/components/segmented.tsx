/** A choice of a few options side by side. Radio buttons, so arrow keys and screen readers work. */
import { useId } from 'react';
import { classNames } from './class-names.js';
import type { Option } from './field.js';

export interface SegmentedProps {
  label: string;
  options: readonly Option[];
  value: string;
  onChange: (value: string) => void;
}

/** So many fit beside one another on a phone. More of them stand in columns there, so that none is alone in a second line. */
const oneLine = 4;

export function Segmented({ label, options, value, onChange }: SegmentedProps) {
  const name = useId();
  return (
    <fieldset
      className={classNames(
        'inline-flex max-w-full flex-wrap rounded-md border border-line bg-sunken p-0.5',
        options.length > oneLine && 'max-sm:grid max-sm:w-full max-sm:grid-cols-3',
      )}
    >
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label
          className={classNames(
            'flex h-7 items-center justify-center rounded-sm px-2.5 text-sm font-medium has-focus-visible:outline-2 has-focus-visible:outline-accent pointer-coarse:h-9',
            option.value === value ? 'bg-chosen text-ink shadow-card' : 'cursor-pointer text-ink-2 hover:text-ink',
          )}
          key={option.value}
        >
          <input
            checked={option.value === value}
            className="sr-only"
            name={name}
            onChange={() => onChange(option.value)}
            type="radio"
            value={option.value}
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}
