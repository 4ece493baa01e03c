/** Parts that the configuration or the environment turns on: traces, payments by card, and notices about balances and retirements. */
import type { AuditLog } from '../accounts/audit.js';
import type { AccountDirectory } from '../accounts/directory.js';
import { periodsAt } from '../accounts/keys/limit-period.js';
import { smtpMailer } from '../accounts/sign-in/mailer.js';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import type { Config } from '../config/config.js';
import type { RetiringRoute } from '../domain/notice.js';
import type { Tracing } from '../observability/tracing/ended-chat.js';
import { openTracing } from '../observability/tracing/open-tracing.js';
import { NoticeTests } from '../payments/notice-test.js';
import { openStripe } from '../payments/stripe-client.js';
import { StripePayments } from '../payments/stripe-payments.js';
import type { Store } from '../storage/store.js';
import type { Territories } from '../territory/territories.js';
import type { OpenParts } from './open-parts.js';

/** null where no exporter of traces is configured. */
export async function startTracing(
  env: Readonly<Record<string, string | undefined>>,
  logger: Logger,
  parts: OpenParts,
): Promise<Tracing | null> {
  const tracing = await openTracing({ env, logger });
  if (tracing) parts.add(tracing, (part) => part.stop());
  return tracing;
}

interface PaymentDeps {
  config: Config;
  clock: Clock;
  logger: Logger;
  audit: AuditLog;
  directory: AccountDirectory;
  territories: Territories;
}

/** undefined where only the operator adds credit. */
export async function openPayments(deps: PaymentDeps): Promise<StripePayments | undefined> {
  const { config, clock, logger, audit, directory, territories } = deps;
  if (config.payments.processor === 'none') return undefined;
  return new StripePayments({
    ...{ clock, logger, webhookSecret: config.payments.webhookSecret },
    stripe: await openStripe(config.payments),
    note: (action, subject, details) => audit.record('system', action, subject, details),
    // A card from another country does not lift a sanction. Only the operator does.
    record: (event) =>
      directory.recordPayment(event, (current, stated) => (isSanctioned(territories, current) ? current : stated)),
  });
}

function isSanctioned(territories: Territories, billingCountry: string | null): boolean {
  try {
    territories.checkBillingCountry({ billingCountry });
    return false;
  } catch {
    return true;
  }
}

interface NoticeDeps {
  /** The routes that retire soon. */
  retiring: () => readonly RetiringRoute[];
  config: Config;
  clock: Clock;
  logger: Logger;
  store: Store;
}

export async function startNotices(
  { config, clock, logger, store, retiring }: NoticeDeps,
  parts: OpenParts,
): Promise<NoticeTests> {
  const { webhook, lowBalancePico: defaultPico, intervalMs } = config.notices;
  const mailer = config.mail && smtpMailer(config.mail);
  if (webhook === null && mailer === null) return new NoticeTests({ webhook: null, mail: null, clock });
  // Loaded here, because the HTTP client takes a tenth of the start time and few operators want notices.
  const { BalanceNotices, httpNoticeSender } = await import('../payments/balance-notices.js');
  const sender = webhook && httpNoticeSender(webhook);
  const mail = mailer && ((message: Parameters<typeof mailer.send>[0]) => mailer.send(message));
  const periods = () => periodsAt(clock.now());
  const notices = new BalanceNotices({
    ...{ store: store.notices, sender, mail, periods, defaultPico, retiring, intervalMs, clock, logger },
  });
  parts.add(notices, (part) => part.stop()).start();
  const called = sender && { host: new URL(webhook.url).host, send: sender.sendBody };
  return new NoticeTests({ webhook: called, mail, clock });
}
