/** Turns on that the page reads new requests every few seconds. */
import { classNames } from '../../components/class-names.js';

export const liveMs = 4_000;

export function LiveToggle({ isLive, onChange }: { isLive: boolean; onChange: (live: boolean) => void }) {
  return (
    <button
      aria-pressed={isLive}
      className={classNames(
        'inline-flex h-9 items-center gap-2 rounded-md border px-3.5 font-medium shadow-card pointer-coarse:h-10',
        isLive ? 'border-good bg-good-soft text-good' : 'border-field/50 bg-surface text-ink hover:bg-sunken',
      )}
      onClick={() => onChange(!isLive)}
      title={isLive ? 'Reads new requests every 4 seconds' : 'Read new requests every 4 seconds'}
      type="button"
    >
      <span aria-hidden="true" className={classNames('size-2 rounded-full', isLive ? 'bg-good' : 'bg-field')} />
      Live
    </button>
  );
}
