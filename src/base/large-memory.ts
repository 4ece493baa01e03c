/**
 * Gives the memory of large requests back at once. V8 frees memory outside of its heap only when it next collects garbage, which a gateway
 * at rest may not do for a long time.
 */
import { MessageChannel } from 'node:worker_threads';

/** From here a text has memory of its own size class. */
export const largeTextBytes = 4 * 1024 * 1024;
/** The C library gives larger blocks back to the system when they are freed. Others it keeps, once one of their size was freed. */
const returnedBytes = 32 * 1024 * 1024 + 64 * 1024;
const spaces = new WeakSet<ArrayBufferLike>();

/** Memory for so many bytes. The system gives it when it is written to, so what is not used takes none. */
export function spaceFor(length: number): Buffer {
  if (length < largeTextBytes) return Buffer.allocUnsafeSlow(length);
  const buffer = new ArrayBuffer(Math.max(length, returnedBytes));
  spaces.add(buffer);
  return Buffer.from(buffer, 0, length);
}

/** Whether nothing else is in the memory of these bytes, so that it can be moved to another thread. */
export function ownsMemory({ buffer, byteLength }: Uint8Array): boolean {
  return buffer.byteLength === byteLength || spaces.has(buffer);
}

/** Memory that the system may still be reading, because it was given to a socket. */
const sending = new WeakSet<ArrayBufferLike>();

export function markSending(bytes: Uint8Array): void {
  sending.add(bytes.buffer);
}

/** The system has taken all of it. */
export function markSent(bytes: Uint8Array): void {
  sending.delete(bytes.buffer);
}

/** Frees bytes that nobody reads any more. The bytes are empty from then on. Those that may still be sent are left to V8. */
export function freeBytes({ buffer }: Uint8Array): void {
  if (sending.has(buffer)) return;
  // A message that can no longer arrive is dropped, together with the memory that was moved into it.
  const { port1, port2 } = new MessageChannel();
  port2.close();
  port1.postMessage(null, [buffer as ArrayBuffer]);
  port1.close();
}
