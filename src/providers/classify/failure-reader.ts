/** Reads the errors of failed calls together with the request that was sent. For a large request this runs in a separate thread. */

import { RecentMap } from '../../base/collections.js';
import { SideThread } from '../../base/side-thread.js';
import { andThen, type MaybePromise } from '../../base/turn.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import { type OutgoingBody, outgoingBytes } from '../../wire/outgoing-body.js';
import { readFailureNow, type UnreadFailure, withVerdict } from '../call-failure.js';
import { dialectOf } from '../dialects/registry.js';
import type { Failure, Meaning } from './failure.js';
import type { FailureToRead } from './failure-thread.js';
import { type Evidence, readFailure, type Verdict } from './read-failure.js';
import { type SentBytes, sentTexts } from './sent-strings.js';

/** Up to this size reading takes a few milliseconds at most. */
const largeRequestBytes = 64 * 1024;

/** A request as an attempt sent it. */
export interface SentRequest {
  readonly request: Pick<ChatRequest, 'members' | 'encoding'>;
  /** The body that was sent, in the dialect of the route. */
  readonly body: OutgoingBody;
  readonly dialect: string;
  readonly upstreamModel: string;
}

/** A provider repeats the words of a refused credential, whatever was asked. */
const refusalStatuses: ReadonlySet<number> = new Set([401, 402, 403]);
const refusalsMax = 250;
const refusalCharactersMax = 2_000;

export class FailureReader {
  /** The meaning of refusals that no request had a part in, so that a customer who goes on with a bad credential costs others little. */
  private readonly refusals = new RecentMap<Meaning>(refusalsMax);
  private readonly thread = new SideThread<FailureToRead, Verdict>(new URL('./failure-thread.js', import.meta.url), {
    idleMs: 30_000,
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
  });

  constructor() {
    // Regular expressions compile on first use, which takes tens of milliseconds. Do it now, while no client waits.
    const body = 'The deployment of this model has an option that is not off, with no value of the client: daily';
    readFailure({ status: 400, body, headerCodes: [], providerId: '', baseUrl: '' });
  }

  read(failure: UnreadFailure, sent: SentRequest): MaybePromise<Failure> {
    const words = refusalWords(failure.evidence);
    const known = words === null ? undefined : this.refusals.get(words);
    if (known !== undefined) return withVerdict(failure, { meaning: known, disputed: false });
    const reading = this.readWith(failure, sent);
    if (words === null) return reading;
    return andThen(reading, (read) => {
      const isRefusal = read.meaning === 'auth' || read.meaning === 'billing';
      if (isRefusal && !read.disputed) this.refusals.set(words, read.meaning);
      return read;
    });
  }

  private readWith(
    failure: UnreadFailure,
    { request, body, dialect, upstreamModel }: SentRequest,
  ): MaybePromise<Failure> {
    // A dialect that translates may drop, join or split strings, so the client's own request is compared too.
    const { members, encoding } = request;
    const translated = dialectOf(dialect).readAnswer ? { members, encoding } : null;
    const sent: SentBytes = {
      body: typeof body === 'string' ? body : outgoingBytes(body),
      request: translated,
      ours: [upstreamModel],
    };
    if (sent.body.length + members.length <= largeRequestBytes) {
      return readFailureNow(failure, sentTexts(sent));
    }
    return this.readLarge(failure, sent);
  }

  close(): Promise<void> {
    return this.thread.close();
  }

  /** If the thread fails, the error is read without the request, and does not count against the route. */
  private async readLarge(failure: UnreadFailure, sent: SentBytes): Promise<Failure> {
    const { evidence } = failure;
    const verdict = await this.thread
      .run({ evidence, sent })
      .catch(() => ({ meaning: readFailure(evidence).meaning, disputed: true }));
    return withVerdict(failure, verdict);
  }
}

/** All that the meaning of a refusal depends on but for the request; null where it is no refusal of a credential. */
function refusalWords(evidence: Evidence): string | null {
  if (!refusalStatuses.has(evidence.status)) return null;
  const words = JSON.stringify(evidence);
  return words.length > refusalCharactersMax ? null : words;
}
