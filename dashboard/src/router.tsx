/** The router: the pages of the page list inside the shell, and sign-in outside it. Each page is a separate chunk. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  Outlet,
  redirect,
  useRouter,
} from '@tanstack/react-router';
import { isApiError } from './api/client.js';
import { queryClient, sessionQuery, wasSignedIn } from './api/queries.js';
import { Button, buttonClass } from './components/button.js';
import { Card } from './components/card.js';
import { AlertIcon } from './components/icons.js';
import { useTitle } from './components/page-header.js';
import { EmptyState, ErrorState, messageOf, SkeletonRows } from './components/states.js';
import { Allowed } from './components/why-not.js';
import { readFirst } from './first-reads.js';
import { Shell } from './layout/shell.js';
import { type PageGroup, pageGroups } from './page-list.js';
import { AcceptInvitationPage } from './pages/sign-in/accept-invitation-page.js';
import { ClaimPage } from './pages/sign-in/claim-page.js';
import { ForgotPasswordPage } from './pages/sign-in/forgot-password-page.js';
import { ResetPasswordPage } from './pages/sign-in/reset-password-page.js';
import { SignInPage } from './pages/sign-in/sign-in-page.js';
import { SignUpPage } from './pages/sign-in/sign-up-page.js';

const root = createRootRoute({ component: Outlet });

const session = () => queryClient.ensureQueryData(sessionQuery);

async function signedOutOnly(): Promise<void> {
  if ((await session()).signed_in) throw redirect({ to: '/' });
}

const outside = [
  createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignInPage, beforeLoad: signedOutOnly }),
  createRoute({ getParentRoute: () => root, path: '/sign-up', component: SignUpPage, beforeLoad: signedOutOnly }),
  createRoute({
    getParentRoute: () => root,
    path: '/forgot-password',
    component: ForgotPasswordPage,
    beforeLoad: signedOutOnly,
  }),
  createRoute({ getParentRoute: () => root, path: '/reset-password', component: ResetPasswordPage }),
  createRoute({ getParentRoute: () => root, path: '/claim', component: ClaimPage }),
  createRoute({ getParentRoute: () => root, path: '/accept-invitation', component: AcceptInvitationPage }),
];

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ location, matches }) => {
    // Meanwhile the page and its data load, so that neither waits for the session.
    for (const { routeId } of matches) preload(routeId);
    const read = () => {
      const page = matches.at(-1);
      if (page) readFirst(page.fullPath, page.search, page.params);
    };
    const isReading = wasSignedIn();
    if (isReading) read();
    const current = await session();
    if (current.signed_in) {
      // An operator without an account has the pages of operators alone.
      if (!current.account && location.pathname === '/')
        throw redirect({ to: current.operator ? '/service' : '/account' });
      if (!isReading) read();
      return;
    }
    throw redirect({ to: '/sign-in', search: location.pathname === '/' ? {} : { next: location.pathname } });
  },
});

function preload(routeId: string): void {
  const { component } =
    (router.routesById as Record<string, { options: { component?: unknown } }>)[routeId]?.options ?? {};
  // A page that cannot be loaded says so when it is shown.
  void (component as { preload?: () => Promise<unknown> } | undefined)?.preload?.()?.catch(() => {});
}

async function operatorOnly(): Promise<void> {
  const current = await session();
  if (current.signed_in && !current.operator) throw redirect({ to: '/account' });
}

/** The page, or why the role of the person does not have it. */
function pageFor(Inner: ReturnType<typeof lazyRouteComponent>, title: string, right: string | undefined) {
  if (right === undefined) return Inner;
  const guarded = () => (
    <Allowed right={right} title={title}>
      <Inner />
    </Allowed>
  );
  return Object.assign(guarded, { preload: Inner.preload });
}

const inside = pageGroups.flatMap((group: PageGroup) =>
  group.pages.map(({ path, title, right, load }) =>
    createRoute({
      getParentRoute: () => shell,
      path,
      component: pageFor(lazyRouteComponent(load, 'Page'), title, right),
      ...(group.operator && { beforeLoad: operatorOnly }),
    }),
  ),
);

/** Pages that are reached from another page or from the account menu. */
const deeper = [
  createRoute({
    getParentRoute: () => shell,
    path: '/models/compare',
    component: lazyRouteComponent(() => import('./pages/models/compare-page.js'), 'Page'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/models/$creator/$model',
    component: lazyRouteComponent(() => import('./pages/models/model-page.js'), 'Page'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/usage/$id',
    component: lazyRouteComponent(() => import('./pages/usage/generation-page.js'), 'Page'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/projects/$id',
    component: lazyRouteComponent(() => import('./pages/projects/project-page.js'), 'Page'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/projects/$id/policy',
    component: lazyRouteComponent(() => import('./pages/projects/project-policy-page.js'), 'Page'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/accounts/$id',
    beforeLoad: operatorOnly,
    component: lazyRouteComponent(() => import('./pages/accounts/account-page.js'), 'Page'),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: '/account',
    component: lazyRouteComponent(() => import('./pages/account/own-account-page.js'), 'Page'),
  }),
];

/** Inside of the shell, so that the navigation stays. */
const nowhere = createRoute({ getParentRoute: () => shell, path: '/$', component: NotFound });

function NotFound() {
  useTitle('Page not found');
  return (
    <Card>
      <h1 className="sr-only">Page not found</h1>
      <EmptyState
        action={
          <Link className={buttonClass('primary')} to="/">
            Go to the overview
          </Link>
        }
        title="Page not found"
      >
        The dashboard has no page with this address. Check it, or choose a page from the menu.
      </EmptyState>
    </Card>
  );
}

export const router = createRouter({
  routeTree: root.addChildren([...outside, shell.addChildren([...inside, ...deeper, nowhere])]),
  basepath: '/dashboard',
  scrollRestoration: true,
  defaultPendingMs: 150,
  // A page that is there is shown, even where its placeholder has just appeared.
  defaultPendingMinMs: 0,
  defaultPendingComponent: () => (
    <Card flush>
      <SkeletonRows />
    </Card>
  ),
  defaultErrorComponent: PageFailed,
  defaultNotFoundComponent: NotFound,
});

/** In place of the page; the menu stays. A message of the browser alone would help nobody, so it stands below what to do. */
function PageFailed({ error, reset }: { error: unknown; reset: () => void }) {
  const { invalidate } = useRouter();
  useTitle('This page has failed');
  const again = () => {
    // The page would throw again with the data that it threw with. That of the session stays, or the menu would go.
    queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
    reset();
    void invalidate();
  };
  if (isApiError(error)) {
    return (
      <Card flush>
        <h1 className="sr-only">Could not show this page</h1>
        <ErrorState error={error} onRetry={again} title="Could not show this page" />
      </Card>
    );
  }
  return (
    <Card flush>
      <h1 className="sr-only">This page has failed</h1>
      <div role="alert">
        <EmptyState
          action={
            <>
              <Button onClick={again} variant="primary">
                Try again
              </Button>
              <Button onClick={() => window.location.reload()}>Reload the dashboard</Button>
            </>
          }
          icon={AlertIcon}
          title="This page has failed"
        >
          Nothing was changed, and the other pages work. Try again, or reload the dashboard. If it stays so, send your
          operator this line: <code className="wrap-anywhere">{messageOf(error)}</code>
        </EmptyState>
      </div>
    </Card>
  );
}
