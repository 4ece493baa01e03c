/** Opens the demo account with the link that the first start prints. The token is behind the `#`, so it never reaches a log. */
import { useMutation } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { api } from '../../api/client.js';
import { beginSession } from '../../api/queries.js';
import type { Session } from '../../api/types.js';
import { buttonClass } from '../../components/button.js';
import { messageOf, Notice, SkeletonRows } from '../../components/states.js';
import { EntryFrame } from './entry-frame.js';

export function ClaimPage() {
  const { history } = useRouter();
  const claim = useMutation({
    mutationFn: (token: string) => api<Session>('claim', { method: 'POST', body: { token } }),
    onSuccess: (session) => {
      beginSession(session);
      history.replace('/dashboard/');
    },
  });
  const { mutate } = claim;
  const sent = useRef(false);
  useEffect(() => {
    if (sent.current) return;
    sent.current = true;
    const token = window.location.hash.slice(1);
    window.history.replaceState(window.history.state, '', window.location.pathname);
    mutate(token);
  }, [mutate]);

  return (
    <EntryFrame title={claim.isError ? 'This link does not work' : 'Opening the demo account'}>
      {claim.isError ? (
        <div className="flex flex-col gap-4">
          <Notice>{messageOf(claim.error)}</Notice>
          <Link className={buttonClass('primary')} to="/sign-in">
            Sign in
          </Link>
        </div>
      ) : (
        <SkeletonRows rows={2} />
      )}
    </EntryFrame>
  );
}
