/** The demo account of a first start (contract 1): a small credit and one key, shown once with a line to paste. */
import type { AccountDirectory } from './accounts/directory.js';
import { demoEmail } from './accounts/sign-in/demo-claim.js';
import { picoPerUsd } from './base/money.js';
import type { Store } from './storage/store.js';

const demoCredit = 5n * picoPerUsd;
const demoModel = 'sandbox/lodestone/echo';

/** The new key's token; null where there are accounts already. */
export async function createDemo(store: Store, directory: AccountDirectory): Promise<string | null> {
  if ((await store.accounts.count()) > 0) return null;
  const account = await directory.createAccount('system', { email: demoEmail, name: 'Demo' });
  await directory.postCredit('system', account.id, demoCredit, 'demo credit');
  const { token } = await directory.createKey('system', account.id, 'demo', null);
  return token;
}

export function demoText(token: string, baseUrl: string): string {
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

/** In the part of an address that no browser sends anywhere and no log has; the page gives it to the API itself. */
export function claimText(claim: string, dashboardUrl: string): string {
  return `Open the dashboard as the demo account (this link works once):\n\n  ${dashboardUrl}/claim#${claim}\n`;
}
