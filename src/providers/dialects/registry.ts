/** The list of dialects: a new dialect is a folder beside this file and one line here. */

import type { SpokenApi } from '../../wire/chat-request.js';
import type { CompletionParts } from '../../wire/completion-parts.js';
import type { UsageTerms } from '../../wire/usage.js';
import { readAnswer as readMessage } from './anthropic/answer.js';
import { anthropic } from './anthropic/anthropic.js';
import { scanMessage } from './anthropic/scan-answer.js';
import { MessageStream } from './anthropic/stream.js';
import { azure } from './azure/azure.js';
import { bedrock } from './bedrock/bedrock.js';
import { cohere } from './cohere/cohere.js';
import type { Dialect } from './dialect.js';
import { gemini } from './gemini/gemini.js';
import { openai } from './openai/openai.js';
import { readCompaction, readResponse } from './responses/answer.js';
import { scanResponse } from './responses/scan-answer.js';
import { ResponseStream } from './responses/stream.js';

/** By the name that a catalogue entry uses. */
export const dialects: Readonly<Record<string, Dialect>> = {
  openai,
  anthropic,
  gemini,
  bedrock,
  azure,
  cohere,
  /** The provider inside this process uses OpenAI's API. */
  sandbox: { ...openai, needsBaseUrl: false },
};

/** A routing snapshot only names dialects of the list: the catalogue refuses others when it loads. */
export function dialectOf(name: string): Dialect {
  return dialects[name]!;
}

/**
 * A client API that providers may speak themselves. Its answers are passed on as they are; they are also read as completions, for the
 * bill and for the rules of a stream.
 */
export interface NativeApi {
  /** Appended to the route's base address, unless its dialect says otherwise. */
  readonly path: string;
  /** Headers of the client that go on to the provider, in lower case. */
  readonly headers: readonly string[];
  /** Its errors have a member `details`, by which clients decide how to go on. */
  readonly hasErrorDetails?: true;
  readonly readAnswer: NonNullable<Dialect['readAnswer']>;
  /** Reads the usual answer without parsing it, with the same result; null where it is not the usual one. */
  readonly scanAnswer?: (body: Buffer, terms: UsageTerms) => CompletionParts | null;
  readonly createStreamTranslator: NonNullable<Dialect['createStreamTranslator']>;
}

export const nativeApis: Readonly<Partial<Record<SpokenApi, NativeApi>>> = {
  messages: {
    path: '/messages',
    headers: ['anthropic-version', 'anthropic-beta'],
    hasErrorDetails: true,
    readAnswer: readMessage,
    scanAnswer: scanMessage,
    createStreamTranslator: () => new MessageStream(),
  },
  responses: {
    path: '/responses',
    headers: [],
    readAnswer: readResponse,
    scanAnswer: scanResponse,
    createStreamTranslator: () => new ResponseStream(),
  },
  compact: {
    path: '/responses/compact',
    headers: [],
    readAnswer: readCompaction,
    createStreamTranslator: () => new ResponseStream(),
  },
};

const apis = Object.keys(nativeApis) as SpokenApi[];
const formats = new Map(apis.map((api) => [api, `native:${api}`]));
const apisByFormat = new Map(apis.map((api) => [`native:${api}`, nativeApis[api]]));

/** Names the format of an answer for the reader, which may run in another thread. */
export function nativeFormat(api: SpokenApi): string {
  return formats.get(api)!;
}

/** The API of such a name; undefined for the name of a dialect. */
export function nativeApiIn(format: string): NativeApi | undefined {
  return apisByFormat.get(format);
}
