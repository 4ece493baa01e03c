/** The last frames of a stream: finish, usage where asked for, the closing receipt, `[DONE]`. */
import { asLatin1, encodeLatin1, type Latin1Text } from '../../base/latin1.js';
import { envelopeOf } from '../../errors/envelope.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import type { Chunk } from '../../wire/chunk.js';
import type { StreamRelay } from './stream-relay.js';

export const doneFrame = 'data: [DONE]\n\n';

export interface Closing {
  end: 'complete' | 'stalled' | 'cut';
  includeUsage: boolean;
  /** JSON text. */
  usage: string;
  /** JSON text, with `stream_end`. */
  metadata: string;
}

export function closingFrames(relay: StreamRelay, finishFrames: readonly Chunk[], closing: Closing): Latin1Text {
  const { end, includeUsage, usage, metadata } = closing;
  let out: string = relay.takeOut();
  const metadataOnFinish = end === 'complete' && !includeUsage && finishFrames.length > 0;
  finishFrames.forEach((frame, index) => {
    const last = index === finishFrames.length - 1;
    out += relay.write(frame, last && metadataOnFinish ? metadata : undefined);
  });
  if (!metadataOnFinish) out += relay.writeReceipt(includeUsage ? usage : undefined, metadata);
  return asLatin1(out + doneFrame);
}

/** §6.3: the one error event of an open stream; no `[DONE]` follows. */
export function pricingFaultFrame(error: GatewayError): Latin1Text {
  return asLatin1(`data: ${encodeLatin1(JSON.stringify(envelopeOf(error)))}\n\n`);
}
