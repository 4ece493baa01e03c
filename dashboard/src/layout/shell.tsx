/** The layout of every signed-in page: skip link, navigation, account menu, and the main region, which gets focus on navigation. */
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { sessionQuery } from '../api/queries.js';
import { ExactTooltip } from '../components/exact-tooltip.js';
import { AccountMenu } from './account-menu.js';
import { BalanceBanner } from './balance-banner.js';
import { Brand } from './brand.js';
import { Navigation, NavigationMenu } from './navigation.js';
import { PaletteButton } from './palette/palette-button.js';
import { SessionContext, shellSession } from './session-context.js';

/** Polls the session, so that an open page shows a low balance. */
const balanceMs = 60_000;

export function Shell() {
  const { data: session } = useQuery({ ...sessionQuery, refetchInterval: balanceMs });
  const main = useFocusOnNavigation();
  const isWide = useIsWide();
  if (!session?.signed_in) return <Navigate to="/sign-in" />;
  return (
    <SessionContext value={shellSession(session)}>
      <a
        className="sr-only rounded-md bg-accent px-3 py-2 font-medium text-accent-ink focus:not-sr-only focus:fixed focus:top-3 focus:left-3 focus:z-50"
        href="#content"
      >
        Skip to content
      </a>
      <div className="lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
        <header className="sticky top-0 z-20 border-line bg-page/95 backdrop-blur-sm max-lg:border-b lg:flex lg:h-dvh lg:flex-col lg:border-r">
          <div className="flex h-14 items-center justify-between px-4 lg:h-16 lg:px-5">
            <div className="flex items-center gap-1.5">
              {isWide || <NavigationMenu />}
              <Link aria-label="Lodestone" className="flex rounded-md" to="/">
                <Brand />
              </Link>
            </div>
            <div className="flex items-center lg:hidden">
              {isWide || <PaletteButton />}
              <AccountMenu />
            </div>
          </div>
          {isWide && (
            <div className="px-3 pb-3">
              <PaletteButton />
            </div>
          )}
          {isWide && <Navigation />}
          <div className="border-t border-line p-3 max-lg:hidden">
            <AccountMenu />
          </div>
        </header>
        <main className="min-w-0 px-4 py-6 sm:px-8 lg:px-10 lg:py-8" id="content" ref={main} tabIndex={-1}>
          <div className="mx-auto max-w-6xl has-data-wide:max-w-none">
            <BalanceBanner />
            <Outlet />
          </div>
        </main>
      </div>
      <ExactTooltip />
    </SessionContext>
  );
}

const wideScreen = '(width >= 64rem)';

/** There is one search button, because there is one shortcut: in the column at the side, or beside the account menu. */
function useIsWide(): boolean {
  return useSyncExternalStore(
    (changed) => {
      const query = window.matchMedia(wideScreen);
      query.addEventListener('change', changed);
      return () => query.removeEventListener('change', changed);
    },
    () => window.matchMedia(wideScreen).matches,
  );
}

/** After a navigation, keyboard and screen reader start at the new page, not at the old link. */
function useFocusOnNavigation() {
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname });
  const last = useRef(path);
  useEffect(() => {
    if (last.current !== undefined && last.current !== path) main.current?.focus({ preventScroll: true });
    last.current = path;
  }, [path]);
  return main;
}
