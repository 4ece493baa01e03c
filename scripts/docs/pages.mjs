/** The pages of /docs in the order of their navigation. A new page is a file in docs/guide/ or docs/behaviour/ and a line here. */

export const groups = [
  {
    title: 'Get started',
    pages: [
      { slug: '', file: 'guide/start.md', title: 'First request' },
      { slug: 'clients', file: 'guide/clients.md', title: 'Clients' },
      { slug: 'doors', file: 'guide/doors.md', title: 'Other APIs' },
      { slug: 'fields', file: 'guide/fields.md', title: 'What reaches a provider' },
      { slug: 'claude-code', file: 'guide/claude-code.md', title: 'Claude Code in a minute' },
      { slug: 'codex', file: 'guide/codex.md', title: 'Codex in a minute' },
      { slug: 'concepts', file: 'guide/concepts.md', title: 'Concepts' },
      { slug: 'ids', file: 'guide/ids.md', title: 'Ids and regions' },
    ],
  },
  {
    title: 'Routing',
    pages: [
      { slug: 'routing', file: 'guide/routing.md', title: 'Auto routing' },
      { slug: 'gates', file: 'guide/gates.md', title: 'Routing policy' },
      { slug: 'openrouter', file: 'guide/openrouter.md', title: 'Coming from OpenRouter' },
      { slug: 'litellm', file: 'guide/litellm.md', title: 'Coming from LiteLLM' },
      { slug: 'bifrost', file: 'guide/bifrost.md', title: 'Coming from Bifrost' },
      { slug: 'portkey', file: 'guide/portkey.md', title: 'Coming from Portkey' },
      { slug: 'aliases', file: 'guide/aliases.md', title: 'Aliases and chains' },
      { slug: 'names', file: 'guide/names.md', title: 'Names of your own' },
      { slug: 'receipts', file: 'guide/receipts.md', title: 'Receipts' },
      {
        slug: 'catalogue-changes',
        file: 'guide/catalogue-changes.md',
        title: 'Catalogue changes',
        script: 'changes.js',
      },
      { slug: 'status-page', file: 'guide/status-page.md', title: 'Status page' },
      { slug: 'check-receipts', file: 'guide/check-receipts.md', title: 'Check a receipt' },
      { slug: 'log-proves', file: 'guide/log-proves.md', title: 'What the log proves' },
    ],
  },
  {
    title: 'Answers',
    pages: [
      { slug: 'streaming', file: 'guide/streaming.md', title: 'Streaming' },
      { slug: 'errors', file: 'guide/errors.md', title: 'Errors' },
      { slug: 'sandbox', file: 'guide/sandbox.md', title: 'Test failures' },
    ],
  },
  {
    title: 'Account',
    pages: [
      { slug: 'billing', file: 'guide/billing.md', title: 'Billing' },
      { slug: 'budgets', file: 'guide/budgets.md', title: 'Budgets' },
      { slug: 'keys', file: 'guide/keys.md', title: 'Keys' },
      { slug: 'own-keys', file: 'guide/own-keys.md', title: 'Use your own provider key' },
      { slug: 'projects', file: 'guide/projects.md', title: 'Projects' },
      { slug: 'workloads', file: 'guide/workloads.md', title: 'Keys for workloads without secrets' },
      { slug: 'limits', file: 'guide/limits.md', title: 'Limits' },
      { slug: 'people', file: 'guide/people.md', title: 'People and roles' },
    ],
  },
  {
    title: 'Operators',
    pages: [
      { slug: 'deploy', file: 'guide/deploy.md', title: 'Deploy' },
      { slug: 'releases', file: 'guide/releases.md', title: 'Releases' },
      { slug: 'regions', file: 'guide/regions.md', title: 'Several regions' },
      { slug: 'configuration', file: 'guide/configuration.md', title: 'Configuration' },
      { slug: 'operations', file: 'guide/operations.md', title: 'Operate' },
      { slug: 'catalogue-updates', file: 'guide/catalogue-updates.md', title: 'Update the catalogue' },
      { slug: 'passwords', file: 'guide/passwords.md', title: 'Reset passwords' },
      { slug: 'two-factor', file: 'guide/two-factor.md', title: 'Two-factor sign-in' },
      { slug: 'single-sign-on', file: 'guide/single-sign-on.md', title: 'Single sign-on' },
      { slug: 'capacity', file: 'guide/capacity.md', title: 'Capacity' },
      { slug: 'security', file: 'guide/security.md', title: 'Security checks' },
      { slug: 'stored-secrets', file: 'guide/stored-secrets.md', title: 'What is stored and how' },
      { slug: 'reconcile', file: 'guide/reconcile.md', title: 'Check an invoice' },
      { slug: 'payments', file: 'guide/payments.md', title: 'Payments and notices' },
      { slug: 'metrics', file: 'guide/metrics.md', title: 'Metrics, traces, logs' },
      { slug: 'providers', file: 'guide/providers.md', title: 'Providers' },
      { slug: 'data-policies', file: 'guide/data-policies.md', title: 'Data policies' },
      { slug: 'dialects', file: 'guide/dialects.md', title: 'Dialects' },
    ],
  },
  {
    title: 'Behaviour',
    pages: [
      { slug: 'behaviour', file: 'behaviour/README.md', title: 'All rules' },
      { slug: 'behaviour/requests', file: 'behaviour/requests.md', title: 'Requests and answers' },
      { slug: 'behaviour/doors', file: 'behaviour/doors.md', title: 'Client APIs' },
      { slug: 'behaviour/http', file: 'behaviour/http.md', title: 'HTTP' },
      { slug: 'behaviour/keys', file: 'behaviour/keys.md', title: 'Keys' },
      { slug: 'behaviour/projects', file: 'behaviour/projects.md', title: 'Project rules' },
      { slug: 'behaviour/ids-and-routes', file: 'behaviour/ids-and-routes.md', title: 'Ids and routes' },
      { slug: 'behaviour/policy', file: 'behaviour/policy.md', title: 'Policy rules' },
      {
        slug: 'behaviour/walk-and-breakers',
        file: 'behaviour/walk-and-breakers.md',
        title: 'Walk, breakers and holds',
      },
      { slug: 'behaviour/upstream', file: 'behaviour/upstream.md', title: 'Provider calls and failures' },
      { slug: 'behaviour/streams', file: 'behaviour/streams.md', title: 'Streams' },
      { slug: 'behaviour/money', file: 'behaviour/money.md', title: 'Money' },
      { slug: 'behaviour/proof', file: 'behaviour/proof.md', title: 'Proof rules' },
      { slug: 'behaviour/limits', file: 'behaviour/limits.md', title: 'Limit rules' },
      { slug: 'behaviour/territories', file: 'behaviour/territories.md', title: 'Territories' },
      { slug: 'behaviour/errors', file: 'behaviour/errors.md', title: 'Error rules' },
      { slug: 'behaviour/operations', file: 'behaviour/operations.md', title: 'Operation rules' },
      { slug: 'behaviour/configuration', file: 'behaviour/configuration.md', title: 'Configuration and catalogue' },
      { slug: 'behaviour/admin-api', file: 'behaviour/admin-api.md', title: 'Admin API' },
      { slug: 'behaviour/dashboard', file: 'behaviour/dashboard.md', title: 'Dashboard rules' },
      { slug: 'behaviour/single-sign-on', file: 'behaviour/single-sign-on.md', title: 'Rules of single sign-on' },
      { slug: 'behaviour/people', file: 'behaviour/people.md', title: 'Rules of roles' },
    ],
  },
];

export const pages = groups.flatMap(({ pages }) => pages);

export const referencePath = '/docs/reference';

export function pathOf({ slug }) {
  return slug === '' ? '/docs' : `/docs/${slug}`;
}
