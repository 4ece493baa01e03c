/** Reads what failed calls say beside what was sent; beside a large request in a thread of its own, so that nobody waits for it. */
import { SideThread } from '../../base/side-thread.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import { adapterOf } from '../dialects/registry.js';
import { type SentBytes, sentTexts } from '../transport/sent-bytes.js';
import { readNow, type UnreadFailure, withVerdict } from '../understand.js';
import type { Failure } from './failure.js';
import type { FailureToRead } from './failure-thread.js';
import { readFailure, type Verdict } from './read-failure.js';

/** Up to here reading takes a few milliseconds at most. */
const largeRequestBytes = 64 * 1024;

/** A request as one attempt sent it. */
export interface SentRequest {
  readonly request: Pick<ChatRequest, 'members' | 'encoding'>;
  /** As it went out, in the dialect of the route. */
  readonly body: string | Buffer;
  readonly dialect: string;
  readonly upstreamModel: string;
}

export class FailureReader {
  private readonly thread = new SideThread<FailureToRead, Verdict>(new URL('./failure-thread.js', import.meta.url), {
    idleMs: 30_000,
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
  });

  constructor() {
    // Patterns are compiled when they are first tried, which takes tens of milliseconds: now, and not while a client waits.
    const body = 'The deployment of this model has an option that is not off, with no value of the client: daily';
    readFailure({ status: 400, body, headerCodes: [], providerId: '', baseUrl: '' });
  }

  read(failure: UnreadFailure, { request, body, dialect, upstreamModel }: SentRequest): Failure | Promise<Failure> {
    // A dialect that only splices sends what the client wrote; another may leave out, join or take apart.
    const sent: SentBytes = { body, request: adapterOf(dialect).answer ? request : null, ours: [upstreamModel] };
    if (body.length + request.members.length <= largeRequestBytes) {
      return readNow(failure, sentTexts(sent));
    }
    return this.readLarge(failure, sent);
  }

  close(): Promise<void> {
    return this.thread.close();
  }

  /** Where the thread is lost, the words are read as they are, and nothing is counted for them. */
  private async readLarge(failure: UnreadFailure, sent: SentBytes): Promise<Failure> {
    const { evidence } = failure;
    const verdict = await this.thread
      .run({ evidence, sent })
      .catch(() => ({ meaning: readFailure(evidence).meaning, disputed: true }));
    return withVerdict(failure, verdict);
  }
}
