/** The sign-in page: identity providers, email and password, and the way to a new password. */
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { sessionQuery } from '../../api/queries.js';
import type { Session } from '../../api/types.js';
import { buttonClass } from '../../components/button.js';
import { Notice } from '../../components/states.js';
import { AdminTokenForm } from './admin-token-form.js';
import { CredentialsForm } from './credentials-form.js';
import { EntryFrame } from './entry-frame.js';
import { signInFaultText } from './sign-in-faults.js';

export function SignInPage() {
  const { data: session } = useQuery(sessionQuery);
  const { next, fault, provider } = useSearch({ strict: false }) as Record<
    'next' | 'fault' | 'provider',
    string | undefined
  >;
  const ways = session?.sign_in;
  const providers = ways?.providers ?? [];
  const name = providers.find(({ id }) => id === provider)?.name ?? 'The identity provider';
  return (
    <EntryFrame below={session && <Below session={session} />} title="Sign in">
      {fault && (
        <div className="mb-4">
          <Notice>{signInFaultText(String(fault), name)}</Notice>
        </div>
      )}
      {providers.length > 0 && (
        <div className="flex flex-col gap-2">
          {providers.map(({ id, name }) => (
            <a
              className={buttonClass('secondary', 'normal', 'w-full')}
              href={`/dashboard/api/oidc/${id}/start`}
              key={id}
            >
              <span className="truncate">Continue with {name}</span>
            </a>
          ))}
        </div>
      )}
      {ways?.password !== false && (
        <>
          {providers.length > 0 && (
            <p className="my-4 flex items-center gap-3 text-sm text-ink-3 before:h-px before:grow before:bg-line after:h-px after:grow after:bg-line">
              or
            </p>
          )}
          <CredentialsForm action="Sign in" next={localPath(next)} path="sign-in" />
          <Link className="mt-4 block w-fit rounded-sm text-sm text-ink-3 hover:text-ink" to="/forgot-password">
            Forgot your password?
          </Link>
        </>
      )}
      {ways?.password === false && <AdminTokenForm />}
    </EntryFrame>
  );
}

function Below({ session: { sign_in, registration } }: { session: Session }) {
  if (!sign_in.password) return 'Passwords are turned off on this gateway.';
  if (registration === 'closed') return 'Sign-up is closed on this gateway. Ask its operator for an account.';
  return (
    <>
      New here?{' '}
      <Link className="font-medium text-accent underline underline-offset-2" to="/sign-up">
        Sign up
      </Link>
    </>
  );
}

/** Accepts only a path of this dashboard; another address would be an open redirect. */
function localPath(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])/.test(next) ? `/dashboard${next}` : '/dashboard/';
}
