/**
 * Google's credentials as its users expect to find them, by its own library: the file that GOOGLE_APPLICATION_CREDENTIALS
 * names, what `gcloud auth application-default login` left, or the metadata server.
 */
import type { Clock } from '../../base/time.js';
import { type LoadPackage, optionalPackage } from './optional-package.js';
import { Renewed } from './renewed.js';

/** The part of `google-auth-library` that is used. */
interface GoogleLibrary {
  GoogleAuth: new (options: { scopes: string; projectId: string }) => { getClient(): Promise<GoogleClient> };
}

interface GoogleClient {
  credentials?: { expiry_date?: number | null };
  getRequestHeaders(): Promise<Headers>;
}

const scope = 'https://www.googleapis.com/auth/cloud-platform';
/** A token whose end is not told is asked for again after this; the library keeps it as long as it holds. */
const untoldMs = 5 * 60_000;

/** A user's own credentials also name the project that pays. */
const shownHeaders = ['authorization', 'x-goog-user-project'];

export function googleTokens(clock: Clock, load: LoadPackage): Renewed<readonly string[]> {
  /** Only one that has served is kept: what could not be found, or hung, may be there the next time. */
  let client: GoogleClient | null = null;
  const connect = async () => {
    const { GoogleAuth } = await optionalPackage<GoogleLibrary>('google-auth-library', load);
    // Without a project it would look one up, which some accounts may not do, and nobody needs here.
    return new GoogleAuth({ scopes: scope, projectId: 'not-needed' }).getClient();
  };
  return new Renewed({
    clock,
    explain: explainGoogle,
    async obtain() {
      const found = client ?? (await connect());
      client = null;
      const headers = await found.getRequestHeaders();
      client = found;
      const value = shownHeaders.flatMap((name) => {
        const header = headers.get(name);
        return header === null ? [] : [name, header];
      });
      return { value, expiresAtMs: found.credentials?.expiry_date ?? clock.now() + untoldMs };
    },
  });
}

/** The library's own words name files, accounts and addresses. */
function explainGoogle(error: unknown): string {
  const words = String((error as Error)?.message);
  if (/could not load the default credentials/i.test(words)) return 'no Google credentials could be found';
  if (/invalid_grant|invalid_rapt|reauth/i.test(words)) return 'its Google credentials have expired or were revoked';
  if (/no such file|does not exist|ENOENT|not a file/i.test(words)) return 'its Google credentials file cannot be read';
  return 'no Google access token could be obtained';
}
