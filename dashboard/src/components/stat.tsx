/** One figure with its name, and how it changed. */
import type { ReactNode } from 'react';
import { classNames } from './class-names.js';

export interface StatProps {
  label: string;
  value: ReactNode;
  /** The exact figure where `value` is shortened. */
  title?: string;
  note?: ReactNode;
  noteTone?: 'neutral' | 'good' | 'bad';
}

const tones = { neutral: 'text-ink-3', good: 'text-good', bad: 'text-danger' };

export function Stat({ label, value, title, note, noteTone = 'neutral' }: StatProps) {
  return (
    <div className="min-w-0">
      <dt className="text-sm text-ink-3">{label}</dt>
      <dd className="tabular mt-0.5 truncate text-xl font-semibold tracking-tight text-ink" title={title}>
        {value}
      </dd>
      <dd className={classNames('tabular mt-0.5 min-h-5 truncate text-sm', tones[noteTone])}>{note}</dd>
    </div>
  );
}
