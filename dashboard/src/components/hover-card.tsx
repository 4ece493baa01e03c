/**
 * More about something, shown while the pointer or the focus is on it, and by a click for fingers. It is in the top layer, so that no
 * table clips it; the pointer may move into it; Escape closes it.
 */
import { type ReactNode, useId, useRef } from 'react';
import { classNames } from './class-names.js';

export interface HoverCardProps {
  /** Begins the name of the button for screen readers, which also read the content. */
  label: string;
  children: ReactNode;
  content: ReactNode;
  className?: string;
}

const gap = 6;
const leaveMs = 120;

export function HoverCard({ label, children, content, className }: HoverCardProps) {
  const id = useId();
  const anchor = useRef<HTMLButtonElement>(null);
  const card = useRef<HTMLDivElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isOpen = () => card.current?.matches(':popover-open') === true;
  const show = () => {
    clearTimeout(timer.current);
    if (!card.current || !anchor.current) return;
    if (!isOpen()) card.current.showPopover();
    place(anchor.current, card.current);
  };
  const hide = () => {
    clearTimeout(timer.current);
    if (isOpen()) card.current?.hidePopover();
  };
  const hideSoon = () => {
    timer.current = setTimeout(hide, leaveMs);
  };
  return (
    <>
      <button
        aria-describedby={id}
        className={classNames('inline-flex flex-wrap gap-1 rounded-sm text-left', className)}
        onBlur={hide}
        onClick={show}
        onFocus={show}
        onKeyDown={(event) => event.key === 'Escape' && hide()}
        onMouseEnter={show}
        onMouseLeave={hideSoon}
        ref={anchor}
        type="button"
      >
        <span className="sr-only">{label}:</span>
        {children}
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the pointer may rest on the card; the keyboard has the button. */}
      <div
        className="fixed inset-auto m-0 max-h-[70dvh] w-80 max-w-[calc(100vw-1rem)] overflow-y-auto rounded-lg border border-line bg-surface p-3 text-left text-sm font-normal whitespace-normal text-ink shadow-pop"
        id={id}
        onMouseEnter={() => clearTimeout(timer.current)}
        onMouseLeave={hideSoon}
        popover="manual"
        ref={card}
      >
        {content}
      </div>
    </>
  );
}

function place(anchor: HTMLElement, card: HTMLElement): void {
  const at = anchor.getBoundingClientRect();
  const { width, height } = card.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.left, window.innerWidth - width - 8));
  const fitsBelow = at.bottom + gap + height < window.innerHeight;
  card.style.left = `${left}px`;
  card.style.top = `${fitsBelow ? at.bottom + gap : Math.max(8, at.top - gap - height)}px`;
}
