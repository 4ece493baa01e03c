/** The schema of who a person is at an identity provider. */
import { boolean, object, text, time } from '../schema.js';

export const linkedIdentity = object({
  provider: text('The id of the identity provider in the configuration.'),
  issuer: text('Its issuer.'),
  subject: text('Who they are there.'),
  email: text('Their email there.'),
  operator: boolean('A group of their last sign-in gives operator rights.'),
  created_at: time('When it was linked.'),
  last_used_at: time('When they signed in with it last.'),
});
