/** Errors of people: roles, members and invitations. */
import { errorRows, row } from './row.js';

const memberOperations = ['listMembers', 'getMember', 'updateMember', 'removeMember'];
const invitationOperations = ['listInvitations', 'createInvitation', 'revokeInvitation'];

export const peopleErrors = errorRows({
  role_required: row<{ role: string; needed: string; inProject?: boolean }>({
    status: 403,
    when: 'The role in the account does not allow the call. A management key has the rights of an admin.',
    remedy: 'Ask a member with a role that the message names.',
    operations: [
      ...[...memberOperations, ...invitationOperations, 'getCredits', 'listOwnAudit'],
      ...['createAlias', 'repointAlias', 'patchAlias', 'deleteAlias'],
      ...['putFallback', 'deleteFallback', 'putRoutingPolicy', 'deleteRoutingPolicy'],
    ],
    message: ({ role, needed, inProject }) =>
      inProject
        ? `This needs the role ${needed} in the whole account, and yours is ${role} in some of its projects. Ask a member who has it, or use a management key without a project.`
        : `This needs the role ${needed} in this account, and yours is ${role}. Ask a member who has it.`,
  }),
  last_owner: row<{ email: string }>({
    status: 409,
    when: 'The last owner of an account is to be removed or to get another role.',
    remedy: 'Make somebody else an owner first.',
    operations: ['updateMember', 'removeMember', 'updateAccountMember', 'removeAccountMember'],
    message: ({ email }) => `"${email}" is the last owner of this account. Make somebody else an owner first.`,
  }),
  member_exists: row<{ email: string }>({
    status: 409,
    param: 'email',
    when: 'Somebody is to be invited or added who is a member already.',
    remedy: 'Change the role of the member.',
    operations: ['createInvitation', 'addAccountMember'],
    message: ({ email }) => `"${email}" is a member of this account already. Change their role instead.`,
  }),
  member_field_invalid: row<{ param: string; reason: string }>({
    status: 422,
    code: 'invalid_request_error',
    when: 'A field of a member or of an invitation is not valid.',
    remedy: 'Correct the field that `param` names.',
    operations: ['updateMember', 'createInvitation'],
    message: ({ param, reason }) => `\`${param}\` ${reason}.`,
  }),
  invitation_not_found: row({
    status: 404,
    param: 'token',
    when: 'The invitation was revoked or replaced by a newer one, or its link is not whole.',
    remedy: 'Open the whole link of the newest invitation, or ask for a new one.',
    message: () => 'This invitation was revoked, or its link is not whole. Ask whoever invited you for a new one.',
  }),
  invitation_used: row({
    status: 409,
    param: 'token',
    when: 'The link of an invitation is opened a second time.',
    remedy: 'Sign in.',
    message: () => 'This invitation was accepted already. Sign in with the email that it was sent to.',
  }),
  invitation_expired: row<{ date: string }>({
    status: 410,
    param: 'token',
    when: 'The link of an invitation is older than 7 days.',
    remedy: 'Ask for a new one.',
    message: ({ date }) => `This invitation expired on ${date}. Ask whoever invited you for a new one.`,
  }),
  invitation_for_another: row<{ invited: string; signedIn: string }>({
    status: 403,
    param: 'token',
    when: 'Somebody opens an invitation to another email than the one they are signed in with.',
    remedy: 'Sign out and open the link again, or ask for an invitation to your own email.',
    message: ({ invited, signedIn }) =>
      `This invitation is for "${invited}", and you are signed in as "${signedIn}". Sign out and open the link again, or ask for an invitation to your own email.`,
  }),
  invitation_sign_in_first: row<{ email: string }>({
    status: 401,
    code: 'session_required',
    when: 'An invitation is accepted without a session, for somebody without a password who is a member or an operator already, or has signed in with an identity provider.',
    remedy: 'Sign in, then open the link again. An operator can make a link that sets a password.',
    message: ({ email }) =>
      `"${email}" is somebody here already, so this link sets no password. Sign in as "${email}" and open the link again. If you cannot sign in, ask an operator for a link that sets a password.`,
  }),
  single_sign_on_required: row({
    status: 403,
    when: 'A password is to be used, set or reset, and `sign_in.password` is false.',
    remedy: 'Sign in with the identity provider. Operators may use the admin token.',
    operations: ['createAccount', 'setPassword', 'createPasswordReset', 'resetPersonPassword'],
    message: () =>
      'Passwords are turned off here. Sign in with your identity provider; operators may use the admin token.',
  }),
  identity_provider_fault: row<{ provider: string; fault: string; reason: string }>({
    status: 503,
    type: 'provider_unavailable',
    when: 'Another way to sign in is to be linked, and the identity provider is away or answers with something that it must not.',
    remedy: 'Try again later. The audit log has what happened.',
    message: ({ provider, reason }) => `Signing in with ${provider} is not possible now: ${reason} Try again later.`,
  }),
  logout_token_refused: row<{ fault: string; reason: string }>({
    status: 400,
    param: 'logout_token',
    when: 'A logout token of an identity provider is wrong, or was used before.',
    remedy: 'Send each logout token once, as OpenID Connect Back-Channel Logout has it.',
    message: ({ fault, reason }) => `The logout token is refused (${fault}): ${reason}`,
  }),
  person_suspended: row({
    status: 403,
    when: 'A suspended person signs in, accepts an invitation or resets the password.',
    remedy: 'Contact the operator.',
    message: () => 'Your sign-in is suspended. Contact the operator of this service.',
  }),
  no_membership: row({
    status: 403,
    when: 'Somebody signs in who is a member of no account, or calls an endpoint of an account without having one.',
    remedy: 'Ask an owner or an admin for an invitation.',
    message: () => 'You are a member of no account. Ask an owner or an admin of one to invite you.',
  }),
});
