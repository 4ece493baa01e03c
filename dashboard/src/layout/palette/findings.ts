/** What the command palette finds for a text. */
import type { CatalogueModel, Key } from '../../api/types.js';
import type { Generation, OperatorAccount } from '../../api/usage-types.js';
import { groupsFor, type Reader } from '../../page-list.js';
import { guidePages, settings } from './places.js';

export interface Finding {
  id: string;
  title: string;
  kind: string;
  to: string;
  params?: Record<string, string>;
  search?: Record<string, string>;
  /** A page of the guide, outside of the dashboard. */
  href?: string;
}

export interface Sources {
  reader: Reader;
  docsUrl: string;
  models: readonly Pick<CatalogueModel, 'id' | 'name'>[];
  keys: readonly Pick<Key, 'id' | 'name' | 'label'>[];
  accounts: readonly Pick<OperatorAccount, 'id' | 'email' | 'name'>[];
  /** The request whose id was typed. */
  request: Pick<Generation, 'id' | 'requested_model'> | null;
}

const eachMax = 8;

export const isRequestId = (text: string): boolean => /^(gen|req)-[0-9a-hjkmnp-tv-z]{26}$/.test(text.trim());

export function findingsOf(text: string, { reader, docsUrl, models, keys, accounts, request }: Sources): Finding[] {
  if (isRequestId(text)) {
    if (!request) return [];
    const title = `${request.id} · ${request.requested_model}`;
    return [{ id: request.id, title, kind: 'Request', to: '/usage/$id', params: { id: request.id } }];
  }
  const words = text.split(/\s+/).filter(Boolean);
  const matching = (findings: Finding[], also: (index: number) => string = () => '') =>
    findings
      .filter(({ title }, index) => words.every((word) => `${title} ${also(index)}`.toLowerCase().includes(word)))
      .slice(0, text === '' ? 0 : eachMax);
  const pages = groupsFor(reader).flatMap((group) =>
    group.pages.map(({ path, title }) => ({ id: path, title, kind: 'Page', to: path })),
  );
  const openSettings = settings.filter(({ to }) => to === '/account' || pages.some(({ id }) => id === to));
  return [
    ...pages.filter(({ title }) => words.every((word) => title.toLowerCase().includes(word))),
    ...matching(
      openSettings.map(({ title, to }) => ({ id: `setting ${title}`, title, kind: 'Setting', to })),
      (index) => openSettings[index]?.words ?? '',
    ),
    ...matching(
      models.map(({ id, name }) => {
        const [creator = '', model = ''] = id.split('/');
        const page = { to: '/models/$creator/$model', params: { creator, model } };
        return { id: `model ${id}`, title: id, kind: name, ...page };
      }),
      (index) => models[index]?.name ?? '',
    ),
    ...matching(
      keys.map(({ id, name, label }) => ({
        ...{ id: `key ${id}`, title: name, kind: `API key ${label}`, to: '/keys', search: { find: name } },
      })),
      (index) => keys[index]?.label ?? '',
    ),
    ...matching(
      accounts.map(({ id, email }) => ({ id, title: email, kind: 'Account', to: '/accounts/$id', params: { id } })),
      (index) => `${accounts[index]?.name ?? ''} ${accounts[index]?.id ?? ''}`,
    ),
    ...matching(
      guidePages.map(({ slug, title }) => ({
        ...{ id: `guide ${slug}`, title, kind: 'Guide', to: '/', href: slug === '' ? docsUrl : `${docsUrl}/${slug}` },
      })),
      (index) => guidePages[index]?.words ?? '',
    ),
  ];
}
