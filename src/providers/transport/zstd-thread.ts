/** The thread that decodes one zstd body on versions of Node without a zstd decoder. */
import { parentPort, workerData } from 'node:worker_threads';
import { Decompress } from 'fzstd';
import { decodedBytesMax, overDecoded } from './decode.js';
import type { ThreadReply } from './zstd.js';
import { zstdFault } from './zstd-frames.js';

function decode(body: Uint8Array): ThreadReply {
  const reason = zstdFault(Buffer.from(body.buffer));
  if (reason !== null) return { reason };
  const parts: Uint8Array[] = [];
  let total = 0;
  const stream = new Decompress((part) => {
    total += part.length;
    if (total > decodedBytesMax) throw new Error('too much');
    parts.push(part);
  });
  try {
    stream.push(body, true);
  } catch {
    return { reason: total > decodedBytesMax ? overDecoded : 'its compressed body is broken' };
  }
  return { decoded: new Uint8Array(Buffer.concat(parts, total)) };
}

const reply = decode(workerData as Uint8Array);
parentPort!.postMessage(reply, 'decoded' in reply ? [reply.decoded.buffer as ArrayBuffer] : []);
