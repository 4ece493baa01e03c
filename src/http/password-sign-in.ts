/** Refuses passwords where only single sign-on and the admin token open the dashboard. */
import { gatewayError } from '../errors/gateway-error.js';

/** Throws single_sign_on_required. */
export function checkPasswordsAllowed(dashboard: { readonly passwords: boolean } | undefined): void {
  if (dashboard?.passwords === false) throw gatewayError('single_sign_on_required');
}
