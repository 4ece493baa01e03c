/** What the sign-in page says about a sign-in at an identity provider that was refused, by the name of the fault in its address. */

const again = 'Try again.';
const askOperator = 'Ask the operator of this gateway: the audit log says what happened.';

export const signInFaultTexts: Readonly<Record<string, (provider: string) => string>> = {
  provider_unavailable: (name) => `${name} did not answer. Wait a moment and try again.`,
  provider_answer: (name) => `${name} gave an answer that cannot be used. ${askOperator}`,
  provider_refused: (name) =>
    `${name} refused the sign-in. Try again, or ask who runs it whether you may use this service.`,
  client_refused: (name) =>
    `${name} does not accept this gateway: its client id or secret is wrong. Ask the operator of this gateway.`,
  code_refused: (name) => `${name} did not accept the code, because it was used or has expired. ${again}`,
  state_missing: () => `This browser began no sign-in, or more than ten minutes ago. ${again}`,
  state_mismatch: () => `The answer belongs to another sign-in, such as one in another tab. ${again}`,
  state_replayed: () => `This sign-in was used already. ${again}`,
  wrong_issuer: (name) =>
    `The answer does not come from ${name}. ${again} If it happens again, ask the operator of this gateway.`,
  wrong_clock: (name) =>
    `The clock of ${name} and that of this gateway differ. Ask the operator of this gateway to set them.`,
  unknown_key: (name) =>
    `The answer is signed with a key that ${name} does not publish. Try again in a minute, or ask the operator.`,
  bad_signature: (name) => `The signature of ${name} is not right. ${askOperator}`,
  wrong_audience: (name) => `The answer of ${name} was made for another application. ${askOperator}`,
  wrong_nonce: (name) => `The answer of ${name} was made for another sign-in. ${again}`,
  groups_overage: (name) =>
    `You are in more groups than ${name} sends. Ask who runs it to send only those that this gateway uses.`,
  email_missing: (name) => `${name} names no email address for you. Ask who runs it to add one.`,
  email_not_verified: (name) =>
    `${name} does not say that your email address is verified. Verify it there, then try again.`,
  email_domain: (name) =>
    `Your email address is in a domain that ${name} may not speak for. Use another address, or ask the operator.`,
  identity_conflict: (name) =>
    `Your email address has another way to sign in here. Sign in that way and link ${name} under “Account and password”, or ask an operator to link it.`,
  no_access: () => 'None of your groups opens an account here. Ask an owner or an admin of one to invite you.',
  person_suspended: () => 'Your sign-in is suspended. Ask the operator of this gateway.',
  too_many_attempts: () => 'There were too many attempts from your address. Wait a minute, then try again.',
};

export function signInFaultText(fault: string, provider: string): string {
  const text = Object.hasOwn(signInFaultTexts, fault) ? signInFaultTexts[fault] : undefined;
  return text?.(provider) ?? `The sign-in was refused. ${askOperator}`;
}
