/** What the dashboard needs in addition to `HttpDeps`. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DemoClaim } from '../../accounts/sign-in/demo-claim.js';
import type { GuessLimiter } from '../../accounts/sign-in/guess-limiter.js';
import type { SingleSignOn } from '../../accounts/sign-in/oidc/single-sign-on.js';
import type { PasswordResets } from '../../accounts/sign-in/password-resets.js';
import type { SignIns } from '../../accounts/sign-in/sign-ins.js';
import type { TwoFactor } from '../../accounts/sign-in/two-factor.js';
import type { PicoUsd } from '../../base/money.js';
import type { DisplayCurrency } from '../../billing/display-currency.js';
import type { Identity } from '../../domain/account.js';
import type { Door } from '../../doors/door.js';

export interface DashboardDeps {
  signIns: SignIns;
  demoClaim: Pick<DemoClaim, 'take'>;
  resets: Pick<PasswordResets, 'sendsMail' | 'request' | 'makeLink' | 'use'>;
  twoFactor: TwoFactor;
  singleSignOn: SingleSignOn;
  /** People may sign in with a password. */
  passwords: boolean;
  /** Operators without two-factor sign-in have no operator rights. */
  operatorsNeedTwoFactor: boolean;
  limiter: GuessLimiter;
  registration: 'open' | 'closed';
  /** Credit for an account that signs up. */
  welcomeCreditPico: PicoUsd;
  /** The configured addresses; null where they are made from host and port. They never come from a request. */
  configured: { baseUrl: string | null; dashboardUrl: string | null };
  /** The addresses in use, known once the server listens. */
  addresses: () => { base: string; dashboard: string; docs: string };
  /** The dashboard's address is https, so its cookies are `Secure`. */
  secure: boolean;
  payments: 'none' | 'stripe';
  /** Balances below this are reported, where the account has no threshold of its own. */
  lowBalancePico: PicoUsd;
  /** Amounts are shown in it too; null = in USD only. */
  displayCurrency: DisplayCurrency | null;
  version: string;
  /** Runs a request of a signed-in account through a door and answers it. The body has not been read. */
  playground: (door: Door, req: IncomingMessage, res: ServerResponse, identity: Identity, requestId: string) => void;
  /** The folder of the built front end. */
  files: string;
}
