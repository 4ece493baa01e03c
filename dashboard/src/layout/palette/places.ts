/** Settings inside of pages, and pages of the guide, with the words that people look for them by. */

interface Setting {
  title: string;
  words: string;
  to: string;
}

export const settings: readonly Setting[] = [
  { title: 'Password', words: 'change password sign in', to: '/account' },
  { title: 'Two-factor sign-in', words: 'two-factor 2fa authenticator recovery codes otp', to: '/account' },
  { title: 'Sessions', words: 'sign out devices browsers end session', to: '/account' },
  { title: 'Budget of the account', words: 'budget limit alert spend cap', to: '/settings' },
  { title: 'Close the account', words: 'delete account cancel leave', to: '/settings' },
  { title: 'Account name', words: 'rename organisation name', to: '/settings' },
  { title: 'Record end users', words: 'end user spend by user', to: '/settings' },
  { title: 'Low-balance notice', words: 'alert mail notify balance', to: '/notices' },
  { title: 'Test of the notices', words: 'webhook mail alert test', to: '/notices' },
  { title: 'Invite somebody', words: 'invitation member person role', to: '/members' },
];

interface GuidePage {
  slug: string;
  title: string;
  words: string;
}

export const guidePages: readonly GuidePage[] = [
  { slug: '', title: 'First request', words: 'start quick curl python guide docs' },
  { slug: 'clients', title: 'Clients', words: 'openai anthropic sdk langchain library' },
  { slug: 'claude-code', title: 'Claude Code in a minute', words: 'agent' },
  { slug: 'codex', title: 'Codex in a minute', words: 'agent' },
  { slug: 'routing', title: 'Auto routing', words: 'ranking order prefer' },
  { slug: 'gates', title: 'Gates of a routing policy', words: 'policy jurisdiction carbon region' },
  { slug: 'aliases', title: 'Aliases and chains', words: 'fallback' },
  { slug: 'names', title: 'Names of your own', words: 'model name' },
  { slug: 'streaming', title: 'Streaming', words: 'sse stream' },
  { slug: 'errors', title: 'Errors', words: 'status code 402 403 429 503' },
  { slug: 'limits', title: 'Limits', words: 'rate limit requests tokens minute 429' },
  { slug: 'budgets', title: 'Budgets', words: 'limit period spend' },
  { slug: 'billing', title: 'Billing', words: 'price cost invoice' },
  { slug: 'receipts', title: 'Receipts', words: 'proof' },
  { slug: 'check-receipts', title: 'Check a receipt', words: 'proof verify log' },
  { slug: 'payments', title: 'Payments and notices', words: 'webhook stripe mail alert' },
  { slug: 'two-factor', title: 'Guide to two-factor sign-in', words: '2fa authenticator' },
  { slug: 'people', title: 'People and roles', words: 'member owner admin auditor developer' },
  { slug: 'providers', title: 'Providers', words: 'credential set up configure' },
  { slug: 'status-page', title: 'Status page', words: 'uptime incident availability' },
];
