/** Opens the parts with which people sign in to the dashboard. */
import type { AuditLog } from '../accounts/audit.js';
import type { AccountDirectory } from '../accounts/directory.js';
import { Invitations } from '../accounts/people/invitations.js';
import { Members } from '../accounts/people/members.js';
import { DemoClaim } from '../accounts/sign-in/demo-claim.js';
import { smtpMailer } from '../accounts/sign-in/mailer.js';
import { PasswordResets } from '../accounts/sign-in/password-resets.js';
import { SignIns } from '../accounts/sign-in/sign-ins.js';
import { TwoFactor } from '../accounts/sign-in/two-factor.js';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import type { Config } from '../config/config.js';
import type { Store } from '../storage/store.js';
import { dashboardOrigin } from './addresses.js';
import type { OpenParts } from './open-parts.js';

interface SignInDeps {
  config: Config;
  store: Store;
  directory: AccountDirectory;
  audit: AuditLog;
  clock: Clock;
  logger: Logger;
  /** The admin token in use: a reload replaces it. */
  tokens: { readonly admin: string };
  /** Known once the server listens. */
  dashboardUrl: () => string;
}

export function openSignIn(deps: SignInDeps, parts: OpenParts) {
  const { config, store, directory, audit, clock, logger, tokens, dashboardUrl } = deps;
  const { people } = store;
  const shared = { people, directory, clock };
  const signIns = new SignIns({ ...shared, store: store.signIn, tokens, ...dashboardOrigin(config) });
  const mailer = config.mail && smtpMailer(config.mail);
  const resets = new PasswordResets({ store, directory, signIns, audit, clock, logger, mailer, dashboardUrl });
  parts.add(resets, (part) => part.stop());
  const twoFactor = new TwoFactor({ store: store.signIn.twoFactor, signIns, audit, clock });
  const demoClaim = new DemoClaim({ store, directory, signIns, clock });
  return {
    dashboard: { signIns, resets, twoFactor, demoClaim },
    members: new Members({ ...shared, audit }),
    invitations: new Invitations({ ...shared, audit, logger, mailer, dashboardUrl }),
  };
}
