/** Writes the answers of the chat completions API: a whole completion, and the frames of a stream. */
import { asLatin1, encodeLatin1, type Latin1Text } from '../../base/latin1.js';
import { envelopeOf } from '../../errors/envelope.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import { type ChunkIdentity, writeChunk } from '../../wire/chunk.js';
import { ChunkTemplate } from '../../wire/chunk-template.js';
import { usageText } from '../../wire/cost.js';
import type { StreamEnding, StreamWriter, WholeAnswer } from '../door.js';

const doneFrame = 'data: [DONE]\n\n';

/** The upstream's members under our own id and model, with the usage that is billed, its cost, and the routing metadata. */
export function writeAnswer({
  id,
  created,
  model,
  parts,
  usage,
  cost,
  metadata,
}: Omit<WholeAnswer, 'request'>): string {
  const members = parts.members === '' ? '' : `,${parts.members}`;
  return (
    `{"id":"${id}","object":"chat.completion","created":${created},"model":"${model}"${members}` +
    `,"usage":${usageText(parts.usage, usage, cost, parts.usageText)},"router_metadata":${metadata}}`
  );
}

/** A frame depends on no frame before it, so one writer serves all streams. */
export const chatStream: StreamWriter = {
  writeFrame: writeChunk,
  templateFor: (data, as) => ChunkTemplate.learn(data, as),
  writeEnd,
  writeError,
};

/** The frames with the `finish_reason`, the usage where it was asked for, the metadata of the end, `[DONE]`. */
function writeEnd(ending: StreamEnding, as: ChunkIdentity): Latin1Text {
  const { end, finishFrames, usage, metadata, firstMetadata } = ending;
  const onFinish = end === 'complete' && !as.includeUsage && finishFrames.length > 0;
  let out = '';
  finishFrames.forEach((frame, index) => {
    const first = index === 0 ? firstMetadata : undefined;
    out += writeChunk(frame, as, onFinish && index === finishFrames.length - 1 ? metadata : first);
  });
  if (!onFinish) {
    const written = as.includeUsage ? usageText(usage.given, usage.usage, usage.cost) : undefined;
    out += writeMetadataFrame(written, metadata, as);
  }
  return asLatin1(out + doneFrame);
}

/** A frame without choices. */
function writeMetadataFrame(usage: string | undefined, metadata: string, as: ChunkIdentity): string {
  const { id, created, model } = as;
  const head = { id, object: 'chat.completion.chunk', created, model, choices: [] };
  const usageMember = usage === undefined ? '' : `,"usage":${usage}`;
  return `data: ${JSON.stringify(head).slice(0, -1)}${usageMember},"router_metadata":${metadata}}\n\n`;
}

/** The missing `[DONE]` tells the client that the answer is incomplete. */
function writeError(error: GatewayError): Latin1Text {
  return asLatin1(`data: ${encodeLatin1(JSON.stringify(envelopeOf(error)))}\n\n`);
}
