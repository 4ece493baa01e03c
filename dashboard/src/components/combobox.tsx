/**
 * A text field that suggests: any text may stay in it. Arrow keys move through the suggestions, Enter takes one, Escape closes
 * the list (the ARIA combobox pattern). The list lies in the top layer, so that no dialog clips it.
 */
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from 'react';
import { classNames } from './class-names.js';
import { controlClass, Field, type FieldProps } from './field.js';

export interface Suggestion {
  value: string;
  hint?: string;
}

export interface ComboboxProps extends FieldProps {
  value: string;
  onChange: (value: string) => void;
  suggestions: readonly Suggestion[];
  placeholder?: string;
  required?: boolean;
  /** Enter without a suggestion chosen. */
  onEnter?: () => void;
  /** A suggestion was chosen; without it, the suggestion is the new text. */
  onTake?: (value: string) => void;
}

const shownMax = 60;

export function Combobox({
  value,
  onChange,
  suggestions,
  placeholder,
  required,
  onEnter,
  onTake = onChange,
  ...field
}: ComboboxProps) {
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const matches = matching(suggestions, value);
  const shown = open && matches.length > 0;

  const take = (suggestion: Suggestion) => {
    onTake(suggestion.value);
    setOpen(false);
    setActive(-1);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const move = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const chosen = matches[active];
    if (move !== 0) {
      event.preventDefault();
      setOpen(true);
      setActive((at) => (at + move + matches.length) % Math.max(matches.length, 1));
    } else if (event.key === 'Enter' && shown && chosen) {
      event.preventDefault();
      take(chosen);
    } else if (event.key === 'Enter' && onEnter) {
      event.preventDefault();
      onEnter();
    } else if (event.key === 'Escape' && shown) {
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    }
  };

  return (
    <Field {...field}>
      {(ids) => (
        <>
          <input
            {...ids}
            aria-activedescendant={shown && active >= 0 ? `${ids.id}-${active}` : undefined}
            aria-autocomplete="list"
            aria-controls={shown ? `${ids.id}-list` : undefined}
            aria-expanded={shown}
            autoCapitalize="off"
            autoComplete="off"
            className={classNames(controlClass, 'h-9 pointer-coarse:h-11')}
            onBlur={() => setOpen(false)}
            onChange={(event) => {
              onChange(event.target.value);
              setOpen(true);
              setActive(-1);
            }}
            onClick={() => setOpen(true)}
            onKeyDown={onKeyDown}
            placeholder={placeholder}
            ref={input}
            required={required}
            role="combobox"
            spellCheck={false}
            value={value}
          />
          {shown && <Suggestions active={active} anchor={input} id={ids.id} matches={matches} onTake={take} />}
        </>
      )}
    </Field>
  );
}

interface SuggestionsProps {
  id: string;
  matches: readonly Suggestion[];
  active: number;
  anchor: { current: HTMLInputElement | null };
  onTake: (suggestion: Suggestion) => void;
}

function Suggestions({ id, matches, active, anchor, onTake }: SuggestionsProps) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const place = () => {
      const box = anchor.current?.getBoundingClientRect();
      const style = list.current?.style;
      if (!box || !style) return;
      const below = window.innerHeight - box.bottom;
      const upwards = below < 240 && box.top > below;
      style.left = `${box.left}px`;
      style.width = `${box.width}px`;
      style.top = upwards ? 'auto' : `${box.bottom + 4}px`;
      style.bottom = upwards ? `${window.innerHeight - box.top + 4}px` : 'auto';
      style.maxHeight = `${Math.min(288, (upwards ? box.top : below) - 16)}px`;
    };
    list.current?.showPopover();
    place();
    window.addEventListener('scroll', place, true);
    window.addEventListener('resize', place);
    return () => {
      window.removeEventListener('scroll', place, true);
      window.removeEventListener('resize', place);
    };
  }, [anchor]);
  useLayoutEffect(() => {
    list.current?.querySelector(`[data-index="${active}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [active]);

  return (
    <div
      aria-label="Suggestions"
      className="fixed inset-auto m-0 overflow-y-auto rounded-lg border border-line bg-surface p-1 text-ink shadow-pop"
      id={`${id}-list`}
      popover="manual"
      ref={list}
      role="listbox"
      tabIndex={-1}
    >
      {matches.map((suggestion, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the field, which keeps the focus.
        // biome-ignore lint/a11y/useFocusableInteractive: focus stays in the field (aria-activedescendant).
        <div
          aria-selected={index === active}
          className={classNames(
            'flex cursor-pointer items-baseline justify-between gap-3 rounded-sm px-2 py-1.5 hover:bg-sunken',
            index === active && 'bg-sunken',
          )}
          data-index={index}
          id={`${id}-${index}`}
          key={suggestion.value}
          onClick={() => onTake(suggestion)}
          onMouseDown={(event) => event.preventDefault()}
          role="option"
        >
          <span className="min-w-0 truncate">{suggestion.value}</span>
          {suggestion.hint && <span className="shrink-0 text-xs text-ink-3">{suggestion.hint}</span>}
        </div>
      ))}
    </div>
  );
}

/** Every word must occur. A text that is a suggestion already needs none. */
function matching(suggestions: readonly Suggestion[], text: string): readonly Suggestion[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (suggestions.some(({ value }) => value === text.trim())) return [];
  return suggestions
    .filter(({ value, hint }) => words.every((word) => `${value} ${hint ?? ''}`.toLowerCase().includes(word)))
    .slice(0, shownMax);
}
