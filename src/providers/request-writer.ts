/** Writes requests in a route's dialect. Large requests that need translation are written in a separate thread. */
import type { MaybePromise } from '../base/maybe-promise.js';
import { SideThread } from '../base/side-thread.js';
import type { ChatRequest } from '../wire/chat-request.js';
import type { OutgoingCall, Target } from './dialects/dialect.js';
import { dialectOf } from './dialects/registry.js';
import type { RequestToWrite } from './request-thread.js';

export class RequestWriter {
  private readonly thread = new SideThread<RequestToWrite, OutgoingCall>(
    new URL('./request-thread.js', import.meta.url),
    { idleMs: 30_000, resourceLimits: { maxOldGenerationSizeMb: 2048 } },
  );

  /** Members that are bytes belong to a large request. A dialect that does not translate splices them without parsing. */
  write(request: ChatRequest, target: Target, dialectName: string): MaybePromise<OutgoingCall> {
    const dialect = dialectOf(dialectName);
    const isQuick = typeof request.members === 'string' || dialect.readAnswer === null;
    return isQuick ? dialect.callOf(request, target) : this.writeLarge(request, target, dialectName);
  }

  close(): Promise<void> {
    return this.thread.close();
  }

  /** The bytes are copied, not transferred: another route may need them if this one fails. */
  private async writeLarge(request: ChatRequest, target: Target, dialect: string): Promise<OutgoingCall> {
    const { path, body } = await this.thread.run({ request, target, dialect });
    return { path, body: typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength) };
  }
}
