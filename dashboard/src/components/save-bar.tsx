/** Save and discard for a page that is edited as a whole. It sticks to the bottom of the window while there are changes. */
import type { ReactNode } from 'react';
import { Button } from './button.js';
import { classNames } from './class-names.js';

export interface SaveBarProps {
  dirty: boolean;
  busy: boolean;
  saveLabel: string;
  onSave: () => void;
  onDiscard: () => void;
  /** At the left end. */
  children?: ReactNode;
}

export function SaveBar({ dirty, busy, saveLabel, onSave, onDiscard, children }: SaveBarProps) {
  return (
    <div
      className={classNames(
        'flex flex-wrap items-center justify-end gap-2 rounded-lg border px-4 py-3',
        dirty ? 'sticky bottom-4 z-10 border-line bg-surface shadow-pop' : 'border-transparent',
      )}
    >
      <span className="mr-auto text-sm text-ink-2">{children ?? (dirty ? 'Not saved yet' : 'Saved')}</span>
      <Button disabled={!dirty} onClick={onDiscard} variant="ghost">
        Discard
      </Button>
      <Button busy={busy} disabled={!dirty} onClick={onSave} variant="primary">
        {saveLabel}
      </Button>
    </div>
  );
}
