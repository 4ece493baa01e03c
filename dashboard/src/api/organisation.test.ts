import { afterEach, expect, it, vi } from 'vitest';
import { projectsQuery } from './organisation.js';
import { queryClient } from './queries.js';

afterEach(() => {
  vi.unstubAllGlobals();
  queryClient.clear();
});

/** An account with so many projects. */
function account(count: number) {
  const pages: number[] = [];
  const fetch = vi.fn(async (url: string) => {
    const known = queryClient.getQueryData<unknown[]>(projectsQuery.queryKey) ?? [];
    pages.push(known.length);
    const after = Number(new URL(url, 'http://x').searchParams.get('after') ?? -1);
    const data = Array.from({ length: Math.min(200, count - after - 1) }, (_, i) => ({ id: String(after + 1 + i) }));
    return new Response(JSON.stringify({ object: 'list', data }));
  });
  vi.stubGlobal('fetch', fetch);
  return pages;
}

it('the projects of a page are there while the next one is read, and nothing is asked for behind the last possible one', async () => {
  const pages = account(1_000);
  expect(await queryClient.fetchQuery(projectsQuery)).toHaveLength(1_000);
  expect(pages).toEqual([0, 200, 400, 600, 800]);
});

it('the list that is there stays whole while it is read again', async () => {
  account(450);
  await queryClient.fetchQuery(projectsQuery);
  const pages = account(450);
  await queryClient.fetchQuery({ ...projectsQuery, staleTime: 0 });
  expect(pages).toEqual([450, 450, 450]);
});
