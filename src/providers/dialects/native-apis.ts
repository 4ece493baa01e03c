/**
 * The client APIs that providers may speak themselves. Their answers are passed on as they are; they are also read as completions, for
 * the bill and for the rules of a stream.
 */
import type { SpokenApi } from '../../wire/chat-request.js';
import { readAnswer as readMessage } from './anthropic/answer.js';
import { MessageStream } from './anthropic/stream.js';
import type { Dialect } from './dialect.js';
import { readCompaction, readResponse } from './responses/answer.js';
import { ResponseStream } from './responses/stream.js';

export interface NativeApi {
  /** Appended to the route's base address, unless its dialect says otherwise. */
  readonly path: string;
  /** Headers of the client that go on to the provider, in lower case. */
  readonly headers: readonly string[];
  /** Its errors have a member `details`, by which clients decide how to go on. */
  readonly hasErrorDetails?: true;
  readonly readAnswer: NonNullable<Dialect['readAnswer']>;
  readonly createStreamTranslator: NonNullable<Dialect['createStreamTranslator']>;
}

export const nativeApis: Readonly<Partial<Record<SpokenApi, NativeApi>>> = {
  messages: {
    path: '/messages',
    headers: ['anthropic-version', 'anthropic-beta'],
    hasErrorDetails: true,
    readAnswer: readMessage,
    createStreamTranslator: () => new MessageStream(),
  },
  responses: {
    path: '/responses',
    headers: [],
    readAnswer: readResponse,
    createStreamTranslator: () => new ResponseStream(),
  },
  compact: {
    path: '/responses/compact',
    headers: [],
    readAnswer: readCompaction,
    createStreamTranslator: () => new ResponseStream(),
  },
};

/** Names the format of an answer for the reader, which may run in another thread. */
export const nativeFormat = (api: SpokenApi): string => `native:${api}`;

/** The API of such a name; undefined for the name of a dialect. */
export function nativeApiIn(format: string): NativeApi | undefined {
  return format.startsWith('native:') ? nativeApis[format.slice('native:'.length) as SpokenApi] : undefined;
}
