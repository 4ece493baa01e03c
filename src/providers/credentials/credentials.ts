/** How a call shows who it is for: by a key, by a signature, by a token that is renewed, or not at all. */
import type { Route } from '../../catalogue/route.js';

export interface Credentials {
  /**
   * Flat list of names and values. One and the same list for every call of a provider as long as nothing in it changes, given
   * at once; a promise only where something must first be obtained. It fails with a CredentialFault.
   */
  headersFor(route: Route, path: string, body: string | Buffer): readonly string[] | Promise<readonly string[]>;
}

/** Nothing to show could be obtained. The message is fit for a caller: it names no file, profile, account or secret. */
export class CredentialFault extends Error {
  override readonly name = 'CredentialFault';
}
