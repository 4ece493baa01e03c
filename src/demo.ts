/** What a start prints: the ready line, and the demo account of a first start (contract 1) with its key, shown once with a line to paste. */
import type { AccountDirectory } from './accounts/directory.js';
import { type DemoClaim, demoEmail } from './accounts/sign-in/demo-claim.js';
import { picoPerUsd } from './base/money.js';
import type { Store } from './storage/store.js';

const demoCredit = 5n * picoPerUsd;
const demoModel = 'sandbox/lodestone/echo';

export function readyText({ base, dashboard, docs }: { base: string; dashboard: string; docs: string }): string {
  return `Lodestone is ready: API ${base}  dashboard ${dashboard}  docs ${docs}`;
}

export interface DemoParts {
  store: Store;
  directory: AccountDirectory;
  demoClaim: Pick<DemoClaim, 'offer'>;
  addresses: { base: string; dashboard: string };
}

/** What a start with an embedded store has to say beside the ready line. */
export async function welcome(
  { store, directory, demoClaim, addresses }: DemoParts,
  print: (text: string) => void,
): Promise<void> {
  const token = await createDemo(store, directory);
  if (token !== null) print(demoText(token, addresses.base));
  const claim = await demoClaim.offer();
  if (claim !== null) print(claimText(claim, addresses.dashboard));
}

/** The new key's token; null where there are accounts already. */
async function createDemo(store: Store, directory: AccountDirectory): Promise<string | null> {
  if ((await store.accounts.count()) > 0) return null;
  const account = await directory.createAccount('system', { email: demoEmail, name: 'Demo' });
  await directory.postCredit('system', account.id, demoCredit, 'demo credit');
  const { token } = await directory.createKey('system', account.id, 'demo', null);
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

/** In the part of an address that no browser sends anywhere and no log has; the page gives it to the API itself. */
function claimText(claim: string, dashboardUrl: string): string {
  return `Open the dashboard as the demo account (this link works once):\n\n  ${dashboardUrl}/claim#${claim}\n`;
}
