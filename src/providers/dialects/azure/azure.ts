/** Azure OpenAI: OpenAI's chat API under addresses and key headers of its own. */
import { bearerHeader, type Dialect, type Target } from '../dialect.js';
import { embeddingsBody, openai, openaiEmbedding, requestBody } from '../openai/openai.js';

/** Tokens of Microsoft Entra are sent as bearer tokens, API keys are not. */
const entraToken = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

export const azure: Dialect = {
  ...openai,
  callOf: (request, target) => ({ path: chatPathOf(target), body: requestBody(request, target) }),
  pathOf: (api, target) =>
    chatPathOf(target).replace('/chat/completions', `/${api === 'compact' ? 'responses/compact' : api}`),
  embedding: {
    ...openaiEmbedding,
    callOf: (batch, target) => ({
      path: chatPathOf(target).replace('/chat/completions', '/embeddings'),
      body: embeddingsBody(batch, target),
    }),
  },
  keyHeader: (key) => (entraToken.test(key) ? bearerHeader(key) : ['api-key', key]),
  unknownModelAdvice: (routeId) =>
    `Deploy it under this name, or write your deployment's name as upstream_model of ${routeId}.`,
};

const paths = new Map<string, string>();

/**
 * The path of a deployment. An address with an `api-version`, or with `/openai/deployments` in its path, uses the classic
 * paths; any other uses version 1. Only the part that the address does not already have is added.
 */
export function chatPathOf({ baseUrl, upstreamModel }: Pick<Target, 'baseUrl' | 'upstreamModel'>): string {
  const key = `${baseUrl} ${upstreamModel}`;
  let path = paths.get(key);
  if (path === undefined) {
    path = pathOf(baseUrl, encodeURIComponent(upstreamModel));
    paths.set(key, path);
  }
  return path;
}

/** For a classic address without a version: the last version of the classic paths that is not a preview. */
const apiVersion = '2024-10-21';

function pathOf(baseUrl: string, deployment: string): string {
  const { pathname, searchParams } = new URL(baseUrl);
  const base = pathname.replace(/\/+$/, '');
  if (/\/v1$/.test(base)) return '/chat/completions';
  const versioned = searchParams.has('api-version');
  // The query of the address itself is appended to every path.
  const query = versioned ? '' : `?api-version=${apiVersion}`;
  if (/\/openai\/deployments\/[^/]+$/.test(base)) return `/chat/completions${query}`;
  if (/\/openai\/deployments$/.test(base)) return `/${deployment}/chat/completions${query}`;
  const service = /\/openai$/.test(base) ? '' : '/openai';
  return versioned ? `${service}/deployments/${deployment}/chat/completions` : `${service}/v1/chat/completions`;
}
