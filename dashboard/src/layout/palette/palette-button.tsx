/** Opens the command palette: a button in the header, and Ctrl+K or ⌘K from anywhere. The palette itself is loaded when it is first opened. */
import { lazy, Suspense, useEffect, useState } from 'react';
import { SearchIcon } from '../../components/icons.js';

const Palette = lazy(async () => ({ default: (await import('./palette.js')).Palette }));

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

export function PaletteButton() {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey)
        return;
      event.preventDefault();
      setOpen((now) => !now);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <button
        aria-keyshortcuts="Control+K Meta+K"
        className="flex h-9 w-full items-center gap-2 rounded-md border border-line bg-surface px-2.5 text-sm text-ink-3 shadow-card hover:border-field hover:text-ink max-lg:size-10 max-lg:justify-center max-lg:border-0 max-lg:bg-transparent max-lg:p-0 max-lg:shadow-none"
        onClick={() => setOpen(true)}
        type="button"
      >
        <SearchIcon className="size-4 shrink-0" />
        <span className="grow text-left max-lg:sr-only">Search</span>
        <span aria-hidden="true" className="rounded-sm border border-line px-1 text-xs max-lg:hidden">
          {isMac ? '⌘K' : 'Ctrl K'}
        </span>
      </button>
      {open && (
        <Suspense>
          <Palette onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
