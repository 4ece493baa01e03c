/** Chooses the period: a range, or two dates. */
import { Segmented } from '../segmented.js';
import { customRange, datesOf, type Period, type PeriodSearch, rangeOptions } from './period.js';

export function PeriodPicker({ period, onChange }: { period: Period; onChange: (search: PeriodSearch) => void }) {
  const dates = datesOf(period);
  const set = (change: Partial<typeof dates>) => {
    const next = { ...dates, ...change };
    if (next.from && next.to && next.from <= next.to) onChange({ range: undefined, ...next } as PeriodSearch);
  };
  return (
    <div className="flex flex-wrap items-center gap-2">
      {period.range === customRange && (
        <div className="flex items-center gap-1.5">
          <DateField label="First day (UTC)" max={dates.to} onChange={(from) => set({ from })} value={dates.from} />
          <span aria-hidden="true" className="text-ink-3">
            to
          </span>
          <DateField label="Last day (UTC)" min={dates.from} onChange={(to) => set({ to })} value={dates.to} />
        </div>
      )}
      <Segmented
        label="Period"
        onChange={(range) =>
          onChange(
            range === customRange
              ? ({ range: undefined, ...dates } as PeriodSearch)
              : ({ range, from: undefined, to: undefined } as PeriodSearch),
          )
        }
        options={rangeOptions}
        value={period.range}
      />
    </div>
  );
}

interface DateFieldProps {
  label: string;
  value: string;
  min?: string;
  max?: string;
  onChange: (value: string) => void;
}

function DateField({ label, onChange, ...rest }: DateFieldProps) {
  return (
    <input
      aria-label={label}
      className="h-8 rounded-md border border-field/60 bg-surface px-2 text-sm text-ink"
      onChange={(event) => onChange(event.target.value)}
      title={label}
      type="date"
      {...rest}
    />
  );
}
