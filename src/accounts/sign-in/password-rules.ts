/** Checks a new password: its length, and that it is not one of the common passwords. */
import { gatewayError } from '../../errors/gateway-error.js';

export const passwordLength = { min: 8, max: 128 } as const;

interface PasswordOwner {
  email: string;
  name?: string | null | undefined;
}

/** Throws password_refused. `param` is the field of the password. Its length has been checked before. */
export async function checkNewPassword(param: string, password: string, owner: PasswordOwner): Promise<void> {
  const reason = await weaknessOf(password, owner);
  if (reason !== null) throw gatewayError('password_refused', { param, reason });
}

async function weaknessOf(password: string, { email, name }: PasswordOwner): Promise<string | null> {
  const lower = password.trim().toLowerCase();
  if (new Set(lower).size <= 2) return 'This password has no more than two different characters.';
  const own = [email, email.split('@', 1)[0], name].map((text) => text?.trim().toLowerCase());
  if (own.includes(lower) || own.includes(lower.replace(/[^\p{L}]+$/u, '')))
    return 'This password is the email address or the name of the account.';
  const common = await commonPasswords();
  // "Password1!" is guessed as soon as "password1".
  return common.has(lower) || common.has(lower.replace(/[^\p{L}\p{N}]+$/u, '')) ? 'This password is too common.' : null;
}

let loading: Promise<ReadonlySet<string>> | undefined;

/**
 * About 18,000 passwords. Loaded when somebody first sets a password, so that a gateway without dashboard users does not pay.
 */
function commonPasswords(): Promise<ReadonlySet<string>> {
  loading ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].filter((entry) => entry.length >= passwordLength.min)),
  );
  return loading;
}
