/** Makes the demo account of a first start, and the texts that a start prints. */
import { AuditLog } from '../accounts/audit.js';
import { AccountDirectory } from '../accounts/directory.js';
import { demoEmail, offerClaim } from '../accounts/sign-in/demo-claim.js';
import type { Logger } from '../base/logger.js';
import { picoPerUsd } from '../base/money.js';
import { type Clock, systemClock as clock } from '../base/time.js';
import type { Store } from '../storage/store.js';

const demoCredit = 5n * picoPerUsd;
const demoModel = 'sandbox/lodestone/echo';

export function readyText({ base, dashboard, docs }: { base: string; dashboard: string; docs: string }): string {
  return `Lodestone is ready: API ${base}  dashboard ${dashboard}  docs ${docs}`;
}

interface DemoParts {
  store: Store;
  directory: AccountDirectory;
  clock: Pick<Clock, 'now'>;
}

/** Makes the demo account before the gateway is ready. The result renders the text for the addresses in use. */
export async function prepareDemo({ store, directory, clock }: DemoParts): Promise<(of: DemoAddresses) => string> {
  const token = await createDemo(store, directory);
  const claim = await offerClaim({ store, clock });
  return ({ base, dashboard }) =>
    [token && demoText(token, base), claim && claimText(claim, dashboard)].filter(Boolean).join('\n');
}

interface DemoAddresses {
  base: string;
  dashboard: string;
}

/** The token of the new key; null where accounts exist already. */
async function createDemo(store: Store, directory: AccountDirectory): Promise<string | null> {
  if ((await store.accounts.count()) > 0) return null;
  const account = await directory.createAccount('system', { email: demoEmail, name: 'Demo' });
  await directory.postCredit('system', account.id, demoCredit, 'demo credit');
  const { token } = await directory.createKey('system', { accountId: account.id, name: 'demo', expiresAt: null });
  return token;
}

function demoText(token: string, baseUrl: string): string {
  const body = JSON.stringify({ model: demoModel, messages: [{ role: 'user', content: 'Hello from Lodestone' }] });
  return [
    '',
    'A demo account with 5 USD of credit was made. Its key is shown only now:',
    '',
    `  ${token}`,
    '',
    'Try it (add "stream": true for a stream):',
    '',
    `  curl ${baseUrl}/v1/chat/completions -H 'authorization: Bearer ${token}' -H 'content-type: application/json' -d '${body}'`,
    '',
  ].join('\n');
}

/** The claim is in the fragment, which browsers do not send and servers do not log. The page sends it to the API. */
function claimText(claim: string, dashboardUrl: string): string {
  return `Open the dashboard as the demo account (this link works once):\n\n  ${dashboardUrl}/claim#${claim}\n`;
}

/** For a process that does not serve. Use it only while no process serves from the store, because none would learn of the changes. */
export function demoParts(store: Store, logger: Logger): DemoParts {
  return {
    store,
    clock,
    directory: new AccountDirectory({ store, clock, logger, audit: new AuditLog(store.audit, clock, logger) }),
  };
}
