/** A list of values as chips. A combobox adds values, a button on each chip removes it. */
import { useRef, useState } from 'react';
import { Combobox, type Suggestion } from './combobox.js';
import type { FieldProps } from './field.js';
import { CloseIcon } from './icons.js';

export interface TokenFieldProps extends FieldProps {
  values: readonly string[];
  onChange: (values: string[]) => void;
  suggestions: readonly Suggestion[];
  /** The text of a chip. */
  show?: (value: string) => string;
  /** Turns typed text into a value. */
  read?: (text: string) => string;
  placeholder?: string;
}

export function TokenField({
  values,
  onChange,
  suggestions,
  show = same,
  read = same,
  placeholder,
  ...field
}: TokenFieldProps) {
  const [text, setText] = useState('');
  const place = useRef<HTMLDivElement>(null);
  const add = (typed: string) => {
    const value = read(typed.trim());
    if (value && !values.includes(value)) onChange([...values, value]);
    setText('');
  };
  const remove = (value: string) => {
    onChange(values.filter((one) => one !== value));
    place.current?.querySelector('input')?.focus();
  };
  return (
    <div className="flex flex-col gap-2" ref={place}>
      <Combobox
        {...field}
        onChange={setText}
        onEnter={() => add(text)}
        onTake={add}
        placeholder={placeholder ?? 'Add …'}
        suggestions={suggestions.filter(({ value }) => !values.includes(value))}
        value={text}
      />
      {values.length > 0 && (
        <ul className="flex flex-wrap gap-1.5">
          {values.map((value) => (
            <li className="inline-flex h-7 items-center gap-1 rounded-md bg-sunken pr-1 pl-2 text-sm" key={value}>
              {show(value)}
              <button
                aria-label={`Remove ${show(value)}`}
                className="inline-flex size-5 items-center justify-center rounded-sm text-ink-3 hover:text-ink pointer-coarse:size-7"
                onClick={() => remove(value)}
                type="button"
              >
                <CloseIcon className="size-3" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const same = (value: string) => value;
