/**
 * Obtains Google access tokens through Google's own library: from the file in GOOGLE_APPLICATION_CREDENTIALS, from
 * `gcloud auth application-default login`, or from the metadata server.
 */
import type { Clock } from '../../base/time.js';
import type { ServiceAccount } from '../../domain/credential.js';
import { type LoadPackage, loadOptional } from './optional-package.js';
import { RenewableValue } from './renewable.js';

/** The part of `google-auth-library` that is used. */
interface GoogleLibrary {
  GoogleAuth: new (options: { scopes: string; projectId: string }) => { getClient(): Promise<GoogleClient> };
}

interface ServiceAccountLibrary {
  JWT: new (options: { email: string; key: string; keyId?: string; scopes: string }) => GoogleClient;
}

interface GoogleClient {
  credentials?: { expiry_date?: number | null };
  getRequestHeaders(): Promise<Headers>;
}

const scope = 'https://www.googleapis.com/auth/cloud-platform';
/** A token without a known expiry is requested again after this time; the library caches it while it is valid. */
const unknownExpiryMs = 5 * 60_000;

/** Credentials of a user also name the project that is billed. */
const sentHeaders = ['authorization', 'x-goog-user-project'];

export function googleTokens(clock: Clock, load: LoadPackage): RenewableValue<readonly string[]> {
  /** Kept only after it has served: credentials that were missing, or a client that hung, are looked up again. */
  let client: GoogleClient | null = null;
  const connect = async () => {
    const { GoogleAuth } = await loadOptional<GoogleLibrary>('google-auth-library', load);
    // Without a project id the library looks one up. That is not needed here, and some accounts may not do it.
    return new GoogleAuth({ scopes: scope, projectId: 'not-needed' }).getClient();
  };
  return tokensFrom(clock, async () => {
    const found = client ?? (await connect());
    client = null;
    const headers = await found.getRequestHeaders();
    client = found;
    return { found, headers };
  });
}

/** Tokens of a customer's service account. The library asks Google's own address, whatever the account's file says. */
export function serviceAccountTokens(
  clock: Clock,
  load: LoadPackage,
  { client_email: email, private_key: key, private_key_id: keyId }: ServiceAccount,
): RenewableValue<readonly string[]> {
  return tokensFrom(clock, async () => {
    const { JWT } = await loadOptional<ServiceAccountLibrary>('google-auth-library', load);
    const found = new JWT({ email, key, scopes: scope, ...(keyId !== undefined && { keyId }) });
    return { found, headers: await found.getRequestHeaders() };
  });
}

type Obtain = () => Promise<{ found: GoogleClient; headers: Headers }>;

function tokensFrom(clock: Clock, obtain: Obtain): RenewableValue<readonly string[]> {
  return new RenewableValue({
    clock,
    explain: explainGoogle,
    async obtain() {
      const { found, headers } = await obtain();
      const value = sentHeaders.flatMap((name) => {
        const header = headers.get(name);
        return header === null ? [] : [name, header];
      });
      return { value, expiresAtMs: found.credentials?.expiry_date ?? clock.now() + unknownExpiryMs };
    },
  });
}

/** The library's own messages name files, accounts and addresses, which clients must not see. */
function explainGoogle(error: unknown): string {
  const words = String((error as Error)?.message);
  if (/could not load the default credentials/i.test(words)) return 'no Google credentials could be found';
  if (/invalid_grant|invalid_rapt|reauth/i.test(words)) return 'its Google credentials have expired or were revoked';
  if (/no such file|does not exist|ENOENT|not a file/i.test(words)) return 'its Google credentials file cannot be read';
  return 'no Google access token could be obtained';
}
