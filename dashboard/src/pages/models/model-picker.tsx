/** Chooses a model: type any words of its name, provider or city, or an id. Each line shows kind, provider, price and context. */
import { useCombobox } from 'downshift';
import { type KeyboardEvent, useMemo, useRef, useState } from 'react';
import type { Catalogue, ModelKind } from '../../api/types.js';
import { Badge } from '../../components/badge.js';
import { classNames } from '../../components/class-names.js';
import { keepText, usePlacement } from '../../components/combobox.js';
import { type ControlIds, controlClass, Field } from '../../components/field.js';
import { SelectIcon } from '../../components/icons.js';
import { type ModelOption, matchingOptions, modelOptions } from './model-options.js';

export interface ModelPickerProps {
  label: string;
  hideLabel?: boolean;
  value: string;
  onChange: (value: string) => void;
  catalogue: Catalogue | undefined;
  kind: ModelKind;
}

const shownMax = 80;
const placement = { minWidth: 480, maxHeight: 420 };

export function ModelPicker({ label, hideLabel, ...control }: ModelPickerProps) {
  return (
    <Field label={label} {...(hideLabel && { hideLabel })}>
      {(ids) => <Control {...control} ids={ids} />}
    </Field>
  );
}

function Control({ ids, value, onChange, catalogue, kind }: Omit<ModelPickerProps, 'label'> & { ids: ControlIds }) {
  const [open, setOpen] = useState(false);
  /** What is searched for: nothing until the reader types, so that an open list shows every model. */
  const [search, setSearch] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const options = useMemo(() => (catalogue ? modelOptions(catalogue, kind) : []), [catalogue, kind]);
  const matches = useMemo(() => matchingOptions(options, search, shownMax), [options, search]);
  const shown = open && matches.length > 0;
  const close = () => {
    setOpen(false);
    setSearch('');
  };
  const { getInputProps, getItemProps, getMenuProps, highlightedIndex } = useCombobox<ModelOption>({
    id: ids.id,
    inputValue: value,
    isOpen: shown,
    items: matches,
    itemToString: (option) => option?.value ?? '',
    onStateChange: ({ isOpen, selectedItem }) => {
      if (isOpen === false) close();
      else if (isOpen) setOpen(true);
      if (selectedItem) {
        onChange(selectedItem.value);
        close();
      }
    },
    selectedItem: null,
    stateReducer: keepText<ModelOption>,
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const isOurs =
      event.key === 'Home' ||
      event.key === 'End' ||
      (event.key === 'Escape' && !shown) ||
      (event.key === 'Enter' && !(shown && highlightedIndex >= 0));
    if (isOurs) Object.assign(event.nativeEvent, { preventDownshiftDefault: true });
    if (event.key === 'Enter') event.preventDefault();
  };
  usePlacement(shown, input, list, placement);
  const menu = getMenuProps({ 'aria-label': 'Suggestions', ref: list }, { suppressRefError: true });
  return (
    <div className="relative min-w-0">
      <input
        {...getInputProps({
          onBlur: close,
          onChange: (event) => {
            onChange(event.currentTarget.value);
            setSearch(event.currentTarget.value);
            setOpen(true);
          },
          onFocus: (event) => event.currentTarget.select(),
          onKeyDown,
          ref: input,
        })}
        {...ids}
        aria-controls={shown ? menu.id : undefined}
        aria-labelledby={undefined}
        autoCapitalize="off"
        className={classNames(controlClass, 'h-9 truncate pr-9 font-mono text-sm pointer-coarse:h-11')}
        placeholder="Search models"
        spellCheck={false}
      />
      <SelectIcon className="pointer-events-none absolute top-1/2 right-2.5 size-4 -translate-y-1/2 text-ink-3" />
      {shown && (
        <div
          {...menu}
          className="fixed inset-auto m-0 overflow-y-auto rounded-lg border border-line bg-surface p-1 text-ink shadow-pop"
          popover="manual"
          tabIndex={-1}
        >
          {matches.map((option, index) => (
            <div
              {...getItemProps({ item: option, index })}
              className={classNames(
                'cursor-pointer rounded-sm px-2.5 py-1.5',
                index === highlightedIndex && 'bg-sunken',
                option.value === value && 'border-l-2 border-accent',
              )}
              key={option.value}
            >
              <Line option={option} />
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

function Line({ option: { value, title, kind, place, price, context } }: { option: ModelOption }) {
  return (
    <>
      <span className="flex items-baseline justify-between gap-3">
        <span className="flex min-w-0 items-center gap-2">
          <span className="truncate font-medium">{title}</span>
          {kind !== 'chat' && <Badge>{kind}</Badge>}
        </span>
        <span className="shrink-0 text-xs text-ink-2 tabular">{price}</span>
      </span>
      <span className="flex items-baseline justify-between gap-3 text-xs text-ink-3">
        <span className="min-w-0 truncate">
          <span className="font-mono">{value}</span> · {place}
        </span>
        <span className="shrink-0 tabular">{context}</span>
      </span>
    </>
  );
}
