/** Shows the text of `data-exact` beside the element that the pointer or the focus is on. One for all pages, in the top layer. */
import { useEffect, useId, useRef } from 'react';

const gapPx = 6;

export function ExactTooltip() {
  const tip = useRef<HTMLDivElement>(null);
  const id = useId();

  useEffect(() => {
    const box = tip.current;
    if (!box) return;
    let current: Element | null = null;
    const hide = () => {
      current?.removeAttribute('aria-describedby');
      current = null;
      if (box.matches(':popover-open')) box.hidePopover();
    };
    const show = ({ target, type }: Event) => {
      if (!(target instanceof Element)) return;
      // A link has the focus instead of the amount in it.
      const element =
        target.closest('[data-exact]') ?? (type === 'focusin' ? target.querySelector('[data-exact]') : null);
      const described = type === 'focusin' ? target : element;
      if (current !== null && described === current) return;
      hide();
      if (!element || !described || target.contains(document.querySelector('main'))) return;
      current = described;
      described.setAttribute('aria-describedby', id);
      box.textContent = element.getAttribute('data-exact');
      box.showPopover();
      const { left, right, top, bottom } = element.getBoundingClientRect();
      const start = Math.min((left + right - box.offsetWidth) / 2, window.innerWidth - box.offsetWidth - gapPx);
      const above = top - box.offsetHeight - gapPx;
      box.style.left = `${Math.max(gapPx, start)}px`;
      box.style.top = `${above > 0 ? above : bottom + gapPx}px`;
    };
    const onKey = ({ key }: KeyboardEvent) => key === 'Escape' && hide();
    const listeners: [string, (event: never) => void][] = [
      ['pointerover', show],
      ['focusin', show],
      ['focusout', hide],
      ['keydown', onKey],
    ];
    for (const [name, listener] of listeners) document.addEventListener(name, listener as EventListener);
    window.addEventListener('scroll', hide, true);
    return () => {
      for (const [name, listener] of listeners) document.removeEventListener(name, listener as EventListener);
      window.removeEventListener('scroll', hide, true);
    };
  }, [id]);

  return (
    <div
      className="tabular pointer-events-none fixed inset-auto m-0 rounded-md border border-line bg-ink px-2 py-1 text-xs font-medium text-page shadow-pop"
      id={id}
      popover="manual"
      ref={tip}
      role="tooltip"
    />
  );
}
