/** The pages of /docs in the order of their navigation. A new page is a file in docs/guide/ and a line here. */

export const groups = [
  {
    title: 'Get started',
    pages: [
      { slug: '', file: 'start.md', title: 'First request' },
      { slug: 'clients', file: 'clients.md', title: 'Clients' },
      { slug: 'concepts', file: 'concepts.md', title: 'Concepts' },
      { slug: 'ids', file: 'ids.md', title: 'Ids and regions' },
    ],
  },
  {
    title: 'Routing',
    pages: [
      { slug: 'routing', file: 'routing.md', title: 'Auto routing' },
      { slug: 'gates', file: 'gates.md', title: 'Routing policy' },
      { slug: 'aliases', file: 'aliases.md', title: 'Aliases and chains' },
      { slug: 'receipts', file: 'receipts.md', title: 'Receipts' },
    ],
  },
  {
    title: 'Answers',
    pages: [
      { slug: 'streaming', file: 'streaming.md', title: 'Streaming' },
      { slug: 'errors', file: 'errors.md', title: 'Errors' },
      { slug: 'sandbox', file: 'sandbox.md', title: 'Rehearse failures' },
    ],
  },
  {
    title: 'Account',
    pages: [
      { slug: 'billing', file: 'billing.md', title: 'Billing' },
      { slug: 'limits', file: 'limits.md', title: 'Limits' },
    ],
  },
  {
    title: 'Operators',
    pages: [
      { slug: 'deploy', file: 'deploy.md', title: 'Deploy it' },
      { slug: 'operations', file: 'operations.md', title: 'Operating it' },
      { slug: 'capacity', file: 'capacity.md', title: 'Capacity' },
      { slug: 'security', file: 'security.md', title: 'Security checks' },
      { slug: 'payments', file: 'payments.md', title: 'Payments and notices' },
      { slug: 'metrics', file: 'metrics.md', title: 'Metrics, traces, logs' },
      { slug: 'providers', file: 'providers.md', title: 'Providers' },
      { slug: 'dialects', file: 'dialects.md', title: 'Dialects' },
    ],
  },
];

export const pages = groups.flatMap(({ pages }) => pages);

export const referencePath = '/docs/reference';

export function pathOf({ slug }) {
  return slug === '' ? '/docs' : `/docs/${slug}`;
}
