/** Payments and the notices about balances, as the configuration asks for them. */
import type { AuditLog } from '../accounts/audit.js';
import type { AccountDirectory } from '../accounts/directory.js';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';
import type { Config } from '../config/config.js';
import { BalanceNotices } from '../payments/balance-notices.js';
import { openStripe } from '../payments/stripe-client.js';
import { StripePayments } from '../payments/stripe-payments.js';
import type { Store } from '../storage/store.js';
import type { Territories } from '../territory/territories.js';
import type { Opened } from './opened.js';

interface Parts {
  config: Config;
  clock: Clock;
  logger: Logger;
  audit: AuditLog;
  store: Store;
  directory: AccountDirectory;
  territories: Territories;
}

/** undefined where credit is added by the operator alone. */
export async function openPayments(parts: Parts, opened: Opened): Promise<StripePayments | undefined> {
  await startNotices(parts, opened);
  const { config, clock, logger, audit, directory, territories } = parts;
  if (config.payments.processor === 'none') return undefined;
  return new StripePayments({
    ...{ clock, logger, webhookSecret: config.payments.webhookSecret },
    stripe: await openStripe(config.payments),
    note: (action, subject, details) => audit.record('system', action, subject, details),
    // A sanctioned country is not paid away by a card from elsewhere: lifting it is the operator's decision.
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

async function startNotices({ config, clock, logger, store }: Parts, opened: Opened): Promise<void> {
  const { webhook, lowBalancePico: defaultPico, intervalMs } = config.notices;
  if (webhook === null) return;
  // Its HTTP client takes a tenth of a start to load, and few want notices.
  const { httpNoticeSender } = await import('../payments/balance-notices.js');
  const sender = httpNoticeSender(webhook);
  const notices = new BalanceNotices({ store: store.notices, sender, defaultPico, intervalMs, clock, logger });
  opened.add(notices, (part) => part.stop()).start();
}
