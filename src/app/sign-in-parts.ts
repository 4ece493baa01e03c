/** Opens the parts with which people sign in to the dashboard. */
import type { AuditLog } from '../accounts/audit.js';
import type { AccountDirectory } from '../accounts/directory.js';
import { GroupRoles } from '../accounts/people/group-roles.js';
import { Invitations } from '../accounts/people/invitations.js';
import { Members } from '../accounts/people/members.js';
import { DemoClaim } from '../accounts/sign-in/demo-claim.js';
import { smtpMailer } from '../accounts/sign-in/mailer.js';
import { ProviderCallFailed } from '../accounts/sign-in/oidc/faults.js';
import type { ProviderFetch } from '../accounts/sign-in/oidc/fetch-port.js';
import { SingleSignOn } from '../accounts/sign-in/oidc/single-sign-on.js';
import { PasswordResets } from '../accounts/sign-in/password-resets.js';
import { SignIns } from '../accounts/sign-in/sign-ins.js';
import { TwoFactor } from '../accounts/sign-in/two-factor.js';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import type { Config } from '../config/config.js';
import { CallFailed, smallAnswers } from '../providers/transport/small-answer.js';
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
  env: NodeJS.ProcessEnv;
  /** The admin token in use: a reload replaces it. */
  tokens: { readonly admin: string };
  /** Known once the server listens. */
  dashboardUrl: () => string;
}

export function openSignIn(deps: SignInDeps, parts: OpenParts) {
  const { config, store, directory, audit, clock, logger, tokens, dashboardUrl, env } = deps;
  const { people } = store;
  const shared = { people, directory, clock };
  const { identities } = store;
  const { password: passwords, oidc: providers } = config.signIn;
  const origin = dashboardOrigin(config);
  const signIns = new SignIns({ ...shared, identities, store: store.signIn, tokens, passwords, ...origin });
  const mailer = config.mail && smtpMailer(config.mail);
  const resets = new PasswordResets({ store, directory, signIns, audit, clock, logger, mailer, dashboardUrl });
  parts.add(resets, (part) => part.stop());
  const twoFactor = new TwoFactor({ store: store.signIn.twoFactor, signIns, audit, clock });
  const demoClaim = new DemoClaim({ store, directory, signIns, clock });
  const members = new Members({ ...shared, audit });
  const invitations = new Invitations({ ...shared, audit, logger, mailer, dashboardUrl });
  const groupRoles = new GroupRoles({ ...shared, members, audit, logger });
  const singleSignOn = new SingleSignOn({
    ...{ ...shared, identities, audit, invitations, groupRoles, providers, signIns, dashboardUrl },
    ...{ secure: origin.secure, fetch: providerFetch(env) },
  });
  return { dashboard: { signIns, resets, twoFactor, demoClaim, singleSignOn, passwords }, members, invitations };
}

/** A page of keys or a token has a few kilobytes. */
const answerBytesMax = 512 * 1024;
const answerMs = 5_000;

function providerFetch(env: NodeJS.ProcessEnv): ProviderFetch {
  const answer = smallAnswers(env, { timeMs: answerMs, bytesMax: answerBytesMax });
  return (url, request) =>
    answer(url, request).catch((error: unknown) => {
      throw error instanceof CallFailed ? new ProviderCallFailed(error.message) : error;
    });
}
