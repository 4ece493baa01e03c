/** Errors of the payment processor's webhook: a report must pass these checks before it is believed. */
import { errorRows, row } from './row.js';

export const paymentErrors = errorRows({
  webhook_signature_invalid: row<{ reason: string }>({
    status: 400,
    when: 'A webhook call is not signed with the endpoint\u2019s secret, or its body is not the one that was signed.',
    remedy: 'Set `payments.webhook_secret` to the signing secret of this endpoint; let no proxy change the body.',
    operations: ['receiveStripeEvent'],
    message: ({ reason }) =>
      `The webhook call was refused: ${reason}. It must be signed with the secret in payments.webhook_secret.`,
  }),
  webhook_time_invalid: row<{ found: string; toleranceSeconds: number }>({
    status: 400,
    when: 'A webhook call was signed more than five minutes ago, or that far in the future.',
    remedy: 'Set the clock of the machine. The processor sends the report again, signed anew.',
    operations: ['receiveStripeEvent'],
    message: ({ found, toleranceSeconds }) =>
      `The webhook call was signed ${found}, and at most ${toleranceSeconds} s are accepted. Check the clock.`,
  }),
});
