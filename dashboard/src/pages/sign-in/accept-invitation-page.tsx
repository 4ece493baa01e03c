/** Accepts an invitation to an account. The token is behind the `#`, so it never reaches a log. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { api } from '../../api/client.js';
import { beginSession } from '../../api/queries.js';
import type { Session } from '../../api/types.js';
import { buttonClass } from '../../components/button.js';
import { ChangeForm } from '../../components/change-form.js';
import { NewPasswordInput, PasswordInput } from '../../components/credential-inputs.js';
import { messageOf, Notice, SkeletonRows } from '../../components/states.js';
import { EntryFrame } from './entry-frame.js';

interface OpenInvitation {
  email: string;
  role: string;
  account_name: string | null;
  signed_in_as: string | null;
  has_password: boolean;
  sign_in_first: boolean;
}

export function AcceptInvitationPage() {
  const [token] = useState(() => window.location.hash.slice(1));
  const [password, setPassword] = useState('');
  const navigate = useNavigate();
  // The address bar and the history must not keep the token.
  useEffect(() => window.history.replaceState(window.history.state, '', window.location.pathname), []);
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => api<OpenInvitation>('invitations/open', { method: 'POST', body: { token } }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const joins = invitation.data !== undefined && invitation.data.signed_in_as === invitation.data.email;
  const accept = useMutation({
    mutationFn: () =>
      api<Session>('invitations/accept', { method: 'POST', body: { token, ...(!joins && { password }) } }),
    onSuccess: async (session) => {
      beginSession(session);
      await navigate({ to: '/' });
    },
  });
  if (invitation.error) {
    return (
      <EntryFrame title="This invitation does not work">
        <div className="flex flex-col gap-4">
          <Notice>{messageOf(invitation.error)}</Notice>
          <Link className={buttonClass('primary')} to="/sign-in">
            Sign in
          </Link>
        </div>
      </EntryFrame>
    );
  }
  if (!invitation.data) {
    return (
      <EntryFrame title="Accept the invitation">
        <SkeletonRows rows={2} />
      </EntryFrame>
    );
  }
  const { email, role, account_name: account, has_password: hasPassword, sign_in_first: isKnown } = invitation.data;
  const lead = `${email} is invited to ${account ?? 'an account'} with the role ${role}.`;
  if (isKnown && !joins) {
    return (
      <EntryFrame lead={lead} title="Sign in to join">
        <div className="flex flex-col gap-4">
          <Notice tone="neutral">Sign in as {email}, then open the link of the invitation again.</Notice>
          <Link className={buttonClass('primary')} to="/sign-in">
            Sign in
          </Link>
        </div>
      </EntryFrame>
    );
  }
  return (
    <EntryFrame lead={lead} title={joins || hasPassword ? 'Join the account' : 'Choose a password'}>
      <ChangeForm action="Accept invitation" change={accept} params={joins ? [] : ['password']}>
        {(at) => {
          if (joins) return null;
          const input = { autoFocus: true, error: at('password'), onChange: setPassword, value: password };
          return hasPassword ? (
            <PasswordInput {...input} autoComplete="current-password" label="Password" />
          ) : (
            <NewPasswordInput {...input} />
          );
        }}
      </ChangeForm>
    </EntryFrame>
  );
}
