/** The links to all pages: a column at the side, or a menu on narrow screens. */
import { Link, useRouterState } from '@tanstack/react-router';
import { useEffect, useId, useRef } from 'react';
import { IconButton } from '../components/button.js';
import { MenuIcon } from '../components/icons.js';
import { groupsFor, type Page } from '../page-list.js';
import { useSession } from './session-context.js';

const scrollMs = 300;

export function Navigation() {
  const nav = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname });
  // On a low screen the last links are below its end. Later than the page, because it makes the browser lay the page out.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page has another link.
  useEffect(() => {
    const timer = setTimeout(
      () => nav.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest' }),
      scrollMs,
    );
    return () => clearTimeout(timer);
  }, [path]);
  return (
    <nav
      aria-label="Main"
      className="fade-hint relative flex grow flex-col gap-5 overflow-y-auto px-3 pt-1 pb-6"
      ref={nav}
    >
      <Groups />
    </nav>
  );
}

/** A button that opens the links over the page. A native popover, which Escape, a click outside and a link close. */
export function NavigationMenu() {
  const id = useId();
  const menu = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (state) => state.location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the menu.
  useEffect(() => menu.current?.hidePopover(), [path]);
  return (
    <>
      <IconButton icon={MenuIcon} label="Menu" popoverTarget={id} />
      <nav
        aria-label="Main"
        className="fixed inset-x-0 top-14 bottom-0 m-0 h-auto w-full flex-col gap-4 overflow-y-auto border-line bg-page px-4 py-4 text-ink open:flex"
        id={id}
        popover="auto"
        ref={menu}
      >
        <Groups />
      </nav>
    </>
  );
}

function Groups() {
  return groupsFor(useSession()).map(({ title, pages }) => (
    <div className="flex flex-col gap-0.5" key={title}>
      <p className="px-2 pb-1 text-xs font-medium text-ink-3">{title}</p>
      {pages.map((page) => (
        <PageLink key={page.path} page={page} />
      ))}
    </div>
  ));
}

function PageLink({ page: { path, title, icon: Glyph } }: { page: Page }) {
  return (
    <Link
      activeOptions={{ exact: path === '/', includeSearch: false }}
      activeProps={{ 'aria-current': 'page', className: 'bg-sunken font-medium text-ink!' }}
      className="flex h-8 shrink-0 items-center gap-2.5 rounded-md px-2 whitespace-nowrap text-ink-2 transition-colors duration-100 hover:bg-sunken hover:text-ink pointer-coarse:h-10"
      preload="intent"
      to={path}
    >
      <Glyph className="size-4 shrink-0" />
      {title}
    </Link>
  );
}
