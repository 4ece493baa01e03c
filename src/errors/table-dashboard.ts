/** Errors of the dashboard's own API: signing in, its limits, and missing rights. */
import { row } from './row.js';

export const dashboardErrors = {
  session_required: row({
    status: 401,
    type: 'authentication_error',
    code: 'session_required',
    when: 'A dashboard call has no session, or one that has ended.',
    remedy: 'Sign in at the dashboard.',
    message: () => 'You are not signed in, or the session has ended. Sign in and try again.',
  }),
  sign_in_failed: row({
    status: 401,
    type: 'authentication_error',
    code: 'sign_in_failed',
    when: 'The email or the password is wrong; the error does not say which.',
    remedy: 'Check both. An operator can set a new password.',
    message: () => 'The email or the password is wrong. Check both; an operator can set a new password.',
  }),
  current_password_wrong: row({
    status: 401,
    type: 'authentication_error',
    code: 'sign_in_failed',
    param: 'current_password',
    when: 'A password is to be changed, and the current one is not right.',
    remedy: 'Check it. An operator can set a new password.',
    message: () => 'The current password is not right.',
  }),
  claim_invalid: row({
    status: 401,
    type: 'authentication_error',
    code: 'claim_invalid',
    when: 'The link to the demo account has been used, has expired, or is not one of this store.',
    remedy: 'Start the gateway again: it prints a new link for as long as the demo account has no password.',
    message: () =>
      'This link has been used or has expired. Start the gateway again for a new one, or sign in with a password.',
  }),
  operator_token_wrong: row({
    status: 401,
    type: 'authentication_error',
    code: 'admin_token_wrong',
    param: 'admin_token',
    when: 'The admin token that a session shows is wrong.',
    remedy: 'It is in the configuration or in `data_dir/admin-token`.',
    message: () => 'This is not the admin token. It is in the configuration or in data_dir/admin-token.',
  }),
  csrf_refused: row<{ reason: string }>({
    status: 403,
    type: 'permission_error',
    code: 'csrf_refused',
    when: 'A dashboard call that changes something does not come from the dashboard itself.',
    remedy: 'Open the dashboard at its own address; set `server.base_url` where that is another one.',
    message: ({ reason }) => `The call was refused, because it does not come from the dashboard itself: ${reason}.`,
  }),
  operator_required: row({
    status: 403,
    type: 'permission_error',
    code: 'operator_required',
    when: 'An operator\u2019s page is asked for by a session without operator rights.',
    remedy: 'Show the admin token in the dashboard, or have an operator flag the account.',
    message: () => 'This is for operators. Show the admin token, or have an operator flag your account.',
  }),
  registration_closed: row({
    status: 403,
    type: 'permission_error',
    code: 'registration_closed',
    when: 'Somebody signs up, but `registration` is `closed`: in the configuration, or because the service can be reached from elsewhere and the configuration does not say `open`.',
    remedy: 'Ask the operator for an account. Operators: `lodestone account create`, or `registration: open`.',
    message: () =>
      'Sign-up is closed here. Ask the operator of this service for an account; an operator can also set "registration: open" in the configuration.',
  }),
  too_many_attempts: row<{ seconds: number }>({
    status: 429,
    type: 'rate_limit_error',
    code: 'too_many_attempts',
    retryAfter: true,
    when: 'Too many attempts to sign in or to sign up, for one account or from one address.',
    remedy: 'Wait for `Retry-After`. Signing in from elsewhere is not affected.',
    message: ({ seconds }) => `Too many attempts. Try again in ${seconds} s.`,
  }),
  checkout_not_offered: row({
    status: 403,
    type: 'permission_error',
    code: 'checkout_not_offered',
    when: 'Credit is to be bought, but `payments.processor` is `none` in the configuration.',
    remedy: 'Ask the operator for credit.',
    message: () => 'Credit cannot be bought here. Ask the operator of this service to add it.',
  }),
  payment_processor_unavailable: row({
    status: 503,
    type: 'provider_unavailable',
    code: 'payment_processor_unavailable',
    when: 'The payment processor did not answer, or refused to open a checkout. Nothing was charged.',
    remedy: 'Try again; the operator finds the processor\u2019s request id in the log.',
    message: () =>
      'The payment processor could not open a checkout. Nothing was charged. Try again in a moment, or tell the operator.',
  }),
};
