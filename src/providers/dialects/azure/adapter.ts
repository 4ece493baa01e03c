/** Azure OpenAI: OpenAI's dialect under addresses of its own. */
import type { Adapter, Target } from '../dialect.js';
import { requestBody } from '../openai/request.js';

export const azure: Adapter = {
  outgoing: (request, target) => ({ path: chatPathOf(target), body: requestBody(request, target) }),
  answer: null,
  stream: null,
  cannotApply: () => null,
};

// * Where a deployment answers. With an `api-version` in the route's address, or `/openai/deployments` in its path, the classic
// paths are meant, else version 1. As much of the path as the address does not have already is added.

type Place = Pick<Target, 'baseUrl' | 'upstreamModel'>;

const paths = new Map<string, string>();

export function chatPathOf({ baseUrl, upstreamModel }: Place): string {
  const key = `${baseUrl} ${upstreamModel}`;
  let path = paths.get(key);
  if (path === undefined) {
    path = pathOf(baseUrl, encodeURIComponent(upstreamModel));
    paths.set(key, path);
  }
  return path;
}

/** What an address without one means: the last version of the classic paths that is no preview. */
const apiVersion = '2024-10-21';

function pathOf(baseUrl: string, deployment: string): string {
  const { pathname, searchParams } = new URL(baseUrl);
  const base = pathname.replace(/\/+$/, '');
  if (/\/v1$/.test(base)) return '/chat/completions';
  const versioned = searchParams.has('api-version');
  // The address's own query is sent behind whatever path there is.
  const query = versioned ? '' : `?api-version=${apiVersion}`;
  if (/\/openai\/deployments\/[^/]+$/.test(base)) return `/chat/completions${query}`;
  if (/\/openai\/deployments$/.test(base)) return `/${deployment}/chat/completions${query}`;
  const service = /\/openai$/.test(base) ? '' : '/openai';
  return versioned ? `${service}/deployments/${deployment}/chat/completions` : `${service}/v1/chat/completions`;
}
