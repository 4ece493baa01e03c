/** The sign-in page, with the way to a new password. */
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { sessionQuery } from '../../api/queries.js';
import { CredentialsForm } from './credentials-form.js';
import { EntryFrame } from './entry-frame.js';

export function SignInPage() {
  const { data: session } = useQuery(sessionQuery);
  const { next } = useSearch({ strict: false }) as { next?: string };
  return (
    <EntryFrame
      below={
        session &&
        (session.registration === 'open' ? (
          <>
            New here?{' '}
            <Link className="font-medium text-accent underline underline-offset-2" to="/sign-up">
              Sign up
            </Link>
          </>
        ) : (
          'Sign-up is closed on this gateway. Ask its operator for an account.'
        ))
      }
      title="Sign in"
    >
      <CredentialsForm action="Sign in" next={localPath(next)} path="sign-in" />
      <Link className="mt-4 block w-fit rounded-sm text-sm text-ink-3 hover:text-ink" to="/forgot-password">
        Forgot your password?
      </Link>
    </EntryFrame>
  );
}

/** Accepts only a path of this dashboard; another address would be an open redirect. */
function localPath(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])/.test(next) ? `/dashboard${next}` : '/dashboard/';
}
