/** Errors of the dashboard's own API: signing in, its limits, and missing rights. */
import { errorRows, row } from './row.js';

export const dashboardErrors = errorRows({
  session_required: row({
    status: 401,
    when: 'A dashboard call has no session, or one that has ended.',
    remedy: 'Sign in at the dashboard.',
    message: () => 'You are not signed in, or the session has ended. Sign in and try again.',
  }),
  sign_in_failed: row({
    status: 401,
    when: 'The email or the password is wrong; the error does not say which.',
    remedy: 'Check both. An operator can set a new password.',
    message: () => 'The email or the password is wrong. Check both; an operator can set a new password.',
  }),
  current_password_wrong: row({
    status: 401,
    code: 'sign_in_failed',
    param: 'current_password',
    when: 'A password is to be changed, and the current one is not right.',
    remedy: 'Check it. An operator can set a new password.',
    message: () => 'The current password is not right.',
  }),
  claim_invalid: row({
    status: 401,
    when: 'The link to the demo account has been used, has expired, or is not one of this store.',
    remedy: 'Start the gateway again: it prints a new link for as long as the demo account has no password.',
    message: () =>
      'This link has been used or has expired. Start the gateway again for a new one, or sign in with a password.',
  }),
  reset_link_invalid: row({
    status: 401,
    when: 'The link that resets a password has been used, has expired, or is not one of this store. A changed password ends all links.',
    remedy: 'Ask for a new link: at sign-in, or from an operator.',
    message: () => 'This link has been used or has expired. Ask for a new one: at sign-in, or from the operator.',
  }),
  two_factor_required: row({
    status: 401,
    param: 'code',
    when: 'Email and password are right, and the account has two-factor sign-in.',
    remedy: 'Send the same request with `code`: the six digits of your authenticator app, or a recovery code.',
    message: () => 'Enter the six digits that your authenticator app shows, or a recovery code.',
  }),
  two_factor_code_wrong: row({
    status: 401,
    param: 'code',
    when: 'The code of two-factor sign-in is wrong, too old, or was used before.',
    remedy:
      'Wait for the next code of your app, and check the time of your device. An operator can reset two-factor sign-in.',
    message: () => 'This code is wrong or was used before. Wait for the next one, or enter a recovery code.',
  }),
  two_factor_password_wrong: row({
    status: 401,
    code: 'sign_in_failed',
    param: 'password',
    when: 'Two-factor sign-in is to be turned on or off, and the password is not right.',
    remedy: 'Check it. An operator can set a new password.',
    message: () => 'The password is not right.',
  }),
  close_password_wrong: row({
    status: 401,
    code: 'sign_in_failed',
    param: 'password',
    when: 'An account is to be closed, and the password of its owner is not right.',
    remedy: 'Check it. An operator can set a new password.',
    message: () => 'The password is not right. Nothing was closed.',
  }),
  two_factor_on: row({
    status: 409,
    when: 'Two-factor sign-in is to be turned on, and it is on already.',
    remedy: 'Turn it off first to use another app or to get new recovery codes.',
    message: () => 'Two-factor sign-in is on already. Turn it off first to use another app.',
  }),
  two_factor_off: row({
    status: 409,
    when: 'A code is shown, and the account has no two-factor sign-in, or has not begun to turn it on.',
    remedy: 'Reload the page, and begin again.',
    message: () => 'Two-factor sign-in is off. Reload the page, and begin again.',
  }),
  two_factor_enrolment_required: row({
    status: 403,
    when: 'An operator\u2019s page is asked for, the account has no two-factor sign-in, and `sign_in.require_two_factor_for_operators` is true.',
    remedy: 'Turn two-factor sign-in on, on the Account page of the dashboard.',
    message: () => 'Operators of this gateway need two-factor sign-in. Turn it on, on the Account page, and try again.',
  }),
  two_factor_own_reset: row({
    status: 403,
    when: 'An operator resets the two-factor sign-in of the own account in the dashboard.',
    remedy: 'Turn it off on the Account page, with password and code, or run `lodestone account reset-two-factor`.',
    message: () => 'You cannot reset your own two-factor sign-in here. Turn it off on the Account page, with a code.',
  }),
  operator_token_wrong: row({
    status: 401,
    code: 'admin_token_wrong',
    param: 'admin_token',
    when: 'The admin token that a session shows is wrong.',
    remedy: 'It is in the configuration or in `data_dir/admin-token`.',
    message: () => 'This is not the admin token. It is in the configuration or in data_dir/admin-token.',
  }),
  csrf_refused: row<{ reason: string }>({
    status: 403,
    when: 'A dashboard call that changes something does not come from the dashboard itself.',
    remedy: 'Open the dashboard at its own address; set `server.base_url` where that is another one.',
    message: ({ reason }) => `The call was refused, because it does not come from the dashboard itself: ${reason}.`,
  }),
  operator_required: row({
    status: 403,
    when: 'An operator\u2019s page is asked for by a session without operator rights.',
    remedy: 'Show the admin token in the dashboard, or have an operator flag the account.',
    message: () => 'This is for operators. Show the admin token, or have an operator flag your account.',
  }),
  registration_closed: row({
    status: 403,
    when: 'Somebody signs up, but `registration` is `closed`: in the configuration, or because the service can be reached from elsewhere and the configuration does not say `open`.',
    remedy: 'Ask the operator for an account. Operators: `lodestone account create`, or `registration: open`.',
    message: () =>
      'Sign-up is closed here. Ask the operator of this service for an account; an operator can also set "registration: open" in the configuration.',
  }),
  password_reset_not_offered: row({
    status: 403,
    when: 'A link that resets a password is asked for, but `mail` is not in the configuration.',
    remedy: 'Ask an operator, who makes a link with `lodestone account reset-password`.',
    message: () => 'This gateway sends no mail. Ask its operator for a link: lodestone account reset-password <email>.',
  }),
  too_many_attempts: row<{ seconds: number }>({
    status: 429,
    type: 'rate_limit_error',
    retryAfter: true,
    when: 'Too many attempts to sign in, to sign up or to reset a password, for one account or from one address, or too many new keys of one account.',
    remedy: 'Wait for `Retry-After`. Signing in from elsewhere is not affected.',
    operations: ['createManagedKey', 'createInvitation'],
    message: ({ seconds }) => `Too many attempts. Try again in ${seconds} s.`,
  }),
  checkout_not_offered: row({
    status: 403,
    when: 'Credit is to be bought, but `payments.processor` is `none` in the configuration.',
    remedy: 'Ask the operator for credit.',
    message: () => 'Credit cannot be bought here. Ask the operator of this service to add it.',
  }),
  notices_not_set_up: row<{ what: string; setting: string }>({
    status: 403,
    when: 'A test of the notices is to be sent, but neither mail nor a webhook is in the configuration, or not the one that is tested.',
    remedy: 'Operators: set `mail` or `notices.webhook` in the configuration.',
    message: ({ what, setting }) =>
      `${what} is not set up on this gateway. Its operator sets "${setting}" in the configuration.`,
  }),
  payment_processor_unavailable: row({
    status: 503,
    type: 'provider_unavailable',
    when: 'The payment processor did not answer, or refused to open a checkout. Nothing was charged.',
    remedy: 'Try again; the operator finds the processor\u2019s request id in the log.',
    message: () =>
      'The payment processor could not open a checkout. Nothing was charged. Try again in a moment, or tell the operator.',
  }),
});
