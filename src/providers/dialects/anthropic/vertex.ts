/** Claude on Vertex AI: Anthropic's Messages, with the model in the path, a version in the body and Google's credentials. */
import type { Dialect, NativeAsk } from '../dialect.js';
import { googleKeyHeader } from '../gemini/vertex.js';
import { anthropic } from './anthropic.js';
import { messagesBody } from './request.js';

const version = { anthropic_version: 'vertex-2023-10-16' };
const versionMember = JSON.stringify(version).slice(1, -1);

/** Tokens are counted under a name of their own, which is no model. */
function pathOf(model: string, ask: NativeAsk): string {
  if (ask === 'count') return '/models/count-tokens:rawPredict';
  return `/models/${encodeURIComponent(model)}:${ask === 'stream' ? 'streamRawPredict' : 'rawPredict'}`;
}

export const anthropicVertex: Dialect = {
  ...anthropic,
  callOf: (request, target) => ({
    path: pathOf(target.upstreamModel, request.stream ? 'stream' : 'whole'),
    body: messagesBody(request, target, version),
  }),
  modelInPath: {
    path: pathOf,
    members: (model, ask) => (ask === 'count' ? `${versionMember},"model":${model}` : versionMember),
  },
  // The version is in the body.
  extraHeaders: [],
  keyHeader: googleKeyHeader,
  defaultAuth: () => 'google',
};
