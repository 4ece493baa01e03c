/** Writes requests in a route's dialect; large ones that must be translated in a thread of their own. */
import { SideThread } from '../base/side-thread.js';
import type { ChatRequest } from '../wire/chat-request.js';
import type { OutgoingCall, Target } from './dialects/dialect.js';
import { adapterOf } from './dialects/registry.js';
import type { RequestToWrite } from './request-thread.js';

export class RequestWriter {
  private readonly thread = new SideThread<RequestToWrite, OutgoingCall>(
    new URL('./request-thread.js', import.meta.url),
    { idleMs: 30_000, resourceLimits: { maxOldGenerationSizeMb: 2048 } },
  );

  /** What was validated off this thread has its members as bytes: it is large. A dialect that only splices takes them as they are. */
  write(request: ChatRequest, target: Target, dialect: string): OutgoingCall | Promise<OutgoingCall> {
    const adapter = adapterOf(dialect);
    const small = typeof request.members === 'string' || adapter.answer === null;
    return small ? adapter.outgoing(request, target) : this.writeLarge(request, target, dialect);
  }

  close(): Promise<void> {
    return this.thread.close();
  }

  /** The bytes are copied, not handed over: another route may need them after this one has failed. */
  private async writeLarge(request: ChatRequest, target: Target, dialect: string): Promise<OutgoingCall> {
    const { path, body } = await this.thread.run({ request, target, dialect });
    return { path, body: typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength) };
  }
}
