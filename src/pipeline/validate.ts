/** Stage 2: the body becomes a validated chat request. Large bodies are read off this thread. */
import { SideThread } from '../base/side-thread.js';
import type { Condition } from '../errors/error-table.js';
import { GatewayError, gatewayError } from '../errors/gateway-error.js';
import type { ChatRequest } from '../wire/chat-request.js';
import type { ThreadError } from './validate/body-thread.js';
import { readRequest } from './validate/read-request.js';

/** Above this size parsing would hold up others. */
export const largeBodyBytes = 256 * 1024;

/**
 * A thread reads its bodies one after the other, and a hostile one takes seconds for its 32 MiB; so bodies wait only for others
 * of about their own size.
 */
const sizeClassBytes = [1024 * 1024, 4 * 1024 * 1024, 12 * 1024 * 1024, Number.POSITIVE_INFINITY];

const jsonType = /^application\/(?:[\w.+-]+\+)?json\s*(?:[;,]|$)/i;

export class Validator {
  /** Started when first needed. */
  private readonly threads = sizeClassBytes.map((bytesMax) => ({ bytesMax, thread: bodyThread() }));

  /** Small bodies are answered at once, so that the usual request waits for nothing. */
  validate(body: Buffer): ChatRequest | Promise<ChatRequest> {
    return body.length <= largeBodyBytes ? readRequest(body) : this.validateLarge(body);
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map(({ thread }) => thread.close()));
  }

  private async validateLarge(body: Buffer): Promise<ChatRequest> {
    const bytes = wholeBuffer(body);
    const { thread } = this.threads.find(({ bytesMax }) => body.length <= bytesMax)!;
    try {
      const request = await thread.run(bytes, [bytes]);
      const members = request.members as Uint8Array;
      return { ...request, members: Buffer.from(members.buffer, members.byteOffset, members.byteLength) };
    } catch (error) {
      const { condition, values } = (error ?? {}) as Partial<ThreadError>;
      if (condition) throw new GatewayError(condition as Condition, values);
      throw gatewayError('body_not_json', { reason: 'holds more values than can be read' });
    }
  }
}

/** Memory that can be handed over; a body that was put together of its pieces has it to itself, and is not copied again. */
function wholeBuffer(body: Buffer): ArrayBuffer {
  const { buffer, byteLength } = body;
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? buffer : new Uint8Array(body).buffer;
}

function bodyThread(): SideThread<ArrayBuffer, ChatRequest> {
  const file = new URL('./validate/body-thread.js', import.meta.url);
  return new SideThread(file, { idleMs: 30_000, resourceLimits: { maxOldGenerationSizeMb: 2048 } });
}

export function checkContentType(contentType: string | undefined): void {
  if (contentType === 'application/json' || (contentType !== undefined && jsonType.test(contentType))) return;
  const found = contentType === undefined ? 'no content-type' : `the content-type "${contentType.slice(0, 100)}"`;
  throw gatewayError('body_not_json', { reason: `was sent with ${found}` });
}
