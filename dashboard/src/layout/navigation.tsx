/** The links to all pages: a column at the side, or a scrolling row on narrow screens. */
import { Link, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { classNames } from '../components/class-names.js';
import { type Page, pageGroups } from '../page-list.js';

export function Navigation({ operator, hasAccount }: { operator: boolean; hasAccount: boolean }) {
  const list = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (state) => state.location.pathname });
  // On a phone, scrolls the row to the current page.
  useEffect(() => {
    const row = list.current;
    const current = path && row?.querySelector<HTMLElement>('[aria-current="page"]');
    // Not scrollIntoView, which would also move the starting point of the Tab key.
    if (row && current) row.scrollLeft = current.offsetLeft - (row.clientWidth - current.offsetWidth) / 2;
  }, [path]);

  return (
    <nav
      aria-label="Main"
      className="no-scrollbar relative flex gap-1 overflow-x-auto max-lg:[mask-image:linear-gradient(to_right,transparent,black_0.75rem,black_calc(100%-2rem),transparent)] max-lg:px-3 max-lg:py-1.5 lg:grow lg:flex-col lg:gap-5 lg:overflow-y-auto lg:px-3 lg:py-1"
      ref={list}
    >
      {pageGroups
        .filter((group) => (group.operator ? operator : hasAccount))
        .map((group) => (
          <div className="flex gap-1 lg:flex-col lg:gap-0.5" key={group.title}>
            <p className="px-2 pb-1 text-xs font-medium text-ink-3 max-lg:hidden">{group.title}</p>
            {group.pages.map((page) => (
              <PageLink key={page.path} page={page} />
            ))}
          </div>
        ))}
    </nav>
  );
}

function PageLink({ page: { path, title, icon: Glyph } }: { page: Page }) {
  return (
    <Link
      activeOptions={{ exact: path === '/', includeSearch: false }}
      activeProps={{ 'aria-current': 'page', className: 'bg-sunken font-medium text-ink!' }}
      className={classNames(
        'flex h-8 shrink-0 items-center gap-2.5 rounded-md px-2 whitespace-nowrap text-ink-2 transition-colors duration-100 hover:bg-sunken hover:text-ink max-lg:text-sm pointer-coarse:h-10',
      )}
      preload="intent"
      to={path}
    >
      <Glyph className="size-4 shrink-0 max-lg:hidden" />
      {title}
    </Link>
  );
}
