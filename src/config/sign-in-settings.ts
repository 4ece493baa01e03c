/** The settings of `sign_in`, as rows like those of settings.ts. */
import { yesOrNo } from '../base/yaml-fields.js';
import { identityProviders } from './identity-providers.js';
import { setting } from './setting.js';

export const signInSettings = {
  require_two_factor_for_operators: setting('requireTwoFactorForOperators', yesOrNo, false, {
    about:
      'Whether operators of the dashboard need [two-factor sign-in](two-factor.md). The admin API and its token are not concerned.',
  }),
  password: setting('password', yesOrNo, true, {
    about:
      'Whether people may sign in with a password. `false` leaves [single sign-on](single-sign-on.md) and the admin token, and ends sessions that a password opened.',
  }),
  oidc: setting('oidc', identityProviders, [], {
    default: '`[]`',
    about:
      'Identity providers for [single sign-on](single-sign-on.md): `id`, `name`, `issuer`, `client_id`, `client_secret` (or `client_secret_file`), `scopes`, `domains`, `groups_claim`, `trust_email`, `acr_values`, `grants`.',
  }),
};
