/**
 * A text field with suggestions: any text may stay in it. Arrow keys move through the suggestions, Enter takes one, Escape closes
 * the list (the ARIA combobox pattern, by Downshift). The list is in the top layer, so that no dialog clips it.
 */
import { type UseComboboxState, type UseComboboxStateChangeOptions, useCombobox } from 'downshift';
import { type KeyboardEvent, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { classNames } from './class-names.js';
import { type ControlIds, controlClass, Field, type FieldProps } from './field.js';

export interface Suggestion {
  value: string;
  hint?: string;
}

interface ControlProps {
  value: string;
  onChange: (value: string) => void;
  suggestions: readonly Suggestion[];
  placeholder?: string;
  required?: boolean;
  /** Enter while no suggestion is highlighted. */
  onEnter?: () => void;
  /** Called with the suggestion that was taken. By default it becomes the text. */
  onTake?: (value: string) => void;
}

export type ComboboxProps = FieldProps & ControlProps;

const shownMax = 60;

export function Combobox({ label, hint, error, action, className, hideLabel, ...control }: ComboboxProps) {
  return (
    <Field {...{ label, hint, error, action, className, hideLabel }}>
      {(ids) => <Control {...control} ids={ids} />}
    </Field>
  );
}

function Control(props: ControlProps & { ids: ControlIds }) {
  const { ids, value, onChange, suggestions, placeholder, required, onEnter, onTake = onChange } = props;
  const [open, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const matches = matching(suggestions, value);
  const shown = open && matches.length > 0;
  const { getInputProps, getItemProps, getMenuProps, highlightedIndex } = useCombobox<Suggestion>({
    id: ids.id,
    inputValue: value,
    isOpen: shown,
    items: matches,
    itemToString: (suggestion) => suggestion?.value ?? '',
    onStateChange: ({ isOpen, selectedItem }) => {
      if (isOpen !== undefined) setOpen(isOpen);
      if (selectedItem) onTake(selectedItem.value);
    },
    selectedItem: null,
    stateReducer: keepText,
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const isChosen = shown && highlightedIndex >= 0;
    // Home and End move the cursor in the text. Escape must not clear the text, and Enter without a choice is not the list's.
    const isOurs =
      event.key === 'Home' ||
      event.key === 'End' ||
      (event.key === 'Escape' && !shown) ||
      (event.key === 'Enter' && !isChosen);
    if (isOurs) Object.assign(event.nativeEvent, { preventDownshiftDefault: true });
    if (event.key === 'Enter' && !isChosen && onEnter) {
      event.preventDefault();
      onEnter();
    }
    // A dialog around the field stays open.
    if (event.key === 'Escape' && shown) event.stopPropagation();
  };
  usePlacement(shown, input, list);
  const menu = getMenuProps({ 'aria-label': 'Suggestions', ref: list }, { suppressRefError: true });

  return (
    <>
      <input
        {...getInputProps({
          onBlur: () => setOpen(false),
          onChange: (event) => onChange(event.currentTarget.value),
          onKeyDown,
          ref: input,
        })}
        {...ids}
        aria-controls={shown ? menu.id : undefined}
        aria-labelledby={undefined}
        autoCapitalize="off"
        className={classNames(controlClass, 'h-9 pointer-coarse:h-11')}
        placeholder={placeholder}
        required={required}
        spellCheck={false}
      />
      {shown && (
        <div
          {...menu}
          className="fixed inset-auto m-0 overflow-y-auto rounded-lg border border-line bg-surface p-1 text-ink shadow-pop"
          popover="manual"
          tabIndex={-1}
        >
          {matches.map((suggestion, index) => (
            <div
              {...getItemProps({ item: suggestion, index })}
              className={classNames(
                'flex cursor-pointer items-baseline justify-between gap-3 rounded-sm px-2 py-1.5',
                index === highlightedIndex && 'bg-sunken',
              )}
              key={suggestion.value}
            >
              <span className="min-w-0 truncate">{suggestion.value}</span>
              {suggestion.hint && <span className="shrink-0 text-xs text-ink-3">{suggestion.hint}</span>}
            </div>
          ))}
        </div>
      )}
    </>
  );
}

const { InputBlur, InputClick, InputKeyDownEnter, ItemClick } = useCombobox.stateChangeTypes;

/** Where this field differs from Downshift: a click never closes the list, and only `onTake` changes the text or selects. */
export function keepText<Item>(
  { inputValue, highlightedIndex }: UseComboboxState<Item>,
  { type, changes }: UseComboboxStateChangeOptions<Item>,
): Partial<UseComboboxState<Item>> {
  if (type === InputClick) return { ...changes, highlightedIndex, isOpen: true };
  if (type === InputBlur) return { ...changes, inputValue, selectedItem: null };
  if (type === InputKeyDownEnter || type === ItemClick) return { ...changes, inputValue };
  return changes;
}

/** Shows the list in the top layer and keeps it below the field, or above it where there is more space. */
export function usePlacement(
  shown: boolean,
  anchor: RefObject<HTMLInputElement | null>,
  list: RefObject<HTMLDivElement | null>,
  { minWidth = 0, maxHeight = 288 } = {},
): void {
  useLayoutEffect(() => {
    if (!shown) return;
    const place = () => {
      const box = anchor.current?.getBoundingClientRect();
      const style = list.current?.style;
      if (!box || !style) return;
      const below = window.innerHeight - box.bottom;
      const upwards = below < 240 && box.top > below;
      const width = Math.max(box.width, Math.min(minWidth, window.innerWidth - 16));
      style.left = `${Math.max(8, Math.min(box.left, window.innerWidth - width - 8))}px`;
      style.width = `${width}px`;
      style.top = upwards ? 'auto' : `${box.bottom + 4}px`;
      style.bottom = upwards ? `${window.innerHeight - box.top + 4}px` : 'auto';
      style.maxHeight = `${Math.min(maxHeight, (upwards ? box.top : below) - 16)}px`;
    };
    list.current?.showPopover();
    place();
    window.addEventListener('scroll', place, true);
    window.addEventListener('resize', place);
    return () => {
      window.removeEventListener('scroll', place, true);
      window.removeEventListener('resize', place);
    };
  }, [shown, anchor, list, minWidth, maxHeight]);
}

/** The suggestions that contain every word of the text; none if the text already is a suggestion. */
function matching(suggestions: readonly Suggestion[], text: string): Suggestion[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (suggestions.some(({ value }) => value === text.trim())) return [];
  return suggestions
    .filter(({ value, hint }) => words.every((word) => `${value} ${hint ?? ''}`.toLowerCase().includes(word)))
    .slice(0, shownMax);
}
