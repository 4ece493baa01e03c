/** The sign-up page, if the operator allows sign-up. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { sessionQuery } from '../../api/queries.js';
import { Notice } from '../../components/states.js';
import { CredentialsForm } from './credentials-form.js';
import { EntryFrame } from './entry-frame.js';

export function SignUpPage() {
  const { data: session } = useQuery(sessionQuery);
  return (
    <EntryFrame
      below={
        <>
          Have an account?{' '}
          <Link className="font-medium text-accent underline underline-offset-2" to="/sign-in">
            Sign in
          </Link>
        </>
      }
      lead="One API key for every model, in the region that you choose."
      title="Sign up"
    >
      {session?.registration === 'closed' ? (
        <Notice tone="neutral">
          Sign-up is closed on this gateway. Ask its operator for an account. If you are the operator: create one with{' '}
          <code className="text-xs">lodestone account create &lt;email&gt;</code>, or set{' '}
          <code className="text-xs">registration: open</code> in the configuration and restart.
        </Notice>
      ) : (
        <CredentialsForm action="Sign up" newPassword next="/dashboard/" path="sign-up" />
      )}
    </EntryFrame>
  );
}
