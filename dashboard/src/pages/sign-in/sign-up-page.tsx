/** Sign up, where the operator allows it. */
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
      lead="One key for every model, in the region that you choose."
      title="Sign up"
    >
      {session?.registration === 'closed' ? (
        <Notice tone="neutral">
          Registration is closed on this gateway. Its operator can make an account for you.
        </Notice>
      ) : (
        <CredentialsForm action="Sign up" newPassword next="/dashboard/" path="sign-up" />
      )}
    </EntryFrame>
  );
}
