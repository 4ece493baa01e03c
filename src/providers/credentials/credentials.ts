/** The credentials of upstream calls: an API key, an AWS signature, a renewed access token, or none. */

import type { ProviderKey } from '../../base/provider-key.js';
import type { MaybePromise } from '../../base/turn.js';
import type { Route } from '../../catalogue/route.js';
import type { OutgoingBody } from '../../wire/outgoing-body.js';

export interface Credentials {
  /**
   * The headers of a call, as a flat list of names and values. While nothing changes, every call of a provider gets the same
   * list object, without a promise. A promise means that a credential must be obtained first; it rejects with CredentialFault. `key` is
   * the one of several keys to use.
   */
  headersFor(route: Route, path: string, body: OutgoingBody, key?: ProviderKey | null): MaybePromise<readonly string[]>;
}

/** No credential could be obtained. Clients see the message, so it names no file, profile, account or secret. */
export class CredentialFault extends Error {
  override readonly name = 'CredentialFault';
}
