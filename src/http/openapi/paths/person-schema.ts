/** The schema of a person, and of who they are at identity providers. */
import { roles } from '../../../domain/organisation.js';
import { array, boolean, object, oneOfValues, text, textOrNull, time } from '../schema.js';
import { importedFrom } from './keys.js';

export const role = oneOfValues(roles, 'What they may do.');

const linkedIdentity = object({
  provider: text('The id of the identity provider in the configuration.'),
  issuer: text('Its issuer.'),
  subject: text('Who they are there.'),
  email: text('Their email there.'),
  operator: boolean('A group of their last sign-in gives operator rights.'),
  created_at: time('When it was linked.'),
  last_used_at: time('When they signed in with it last.'),
});

export const personSchema = object({
  object: { const: 'person' },
  id: text('The person’s id.', { pattern: '^per-' }),
  email: text('The email address with which they sign in. Nobody else has it.'),
  name: textOrNull('Their name.'),
  status: oneOfValues(['active', 'suspended'], 'A suspended person cannot sign in.'),
  operator: boolean('They are an operator in the dashboard.'),
  two_factor: boolean('Sign-in asks for a code.'),
  has_password: boolean('They can sign in with a password.'),
  link_provider: textOrNull('The identity provider that is linked with the next sign-in.'),
  imported_from: importedFrom('the person'),
  identities: array(linkedIdentity, 'Who they are at identity providers.'),
  accounts: array(
    object({ id: text('The account’s id.'), email: textOrNull('Its email.'), name: textOrNull('Its name.'), role }),
    'The accounts that they are a member of.',
  ),
  created_at: time('When they came.'),
});
