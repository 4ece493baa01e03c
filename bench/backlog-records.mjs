/** Writes the journal of a process that is gone, with as many records as asked, as busy hours leave them. For bench/backlog.mjs. */
import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { generationId, requestId } from '../dist/base/ids.js';
import { RecordWriter } from '../dist/journal/record.js';
import { segmentName } from '../dist/journal/segment-names.js';

const run = '00000000feedbac1';
const segmentBytes = 16 << 20;
const models = ['meta/llama-3.3-70b', 'mistral/large-3', 'qwen/qwen3-32b'];
const hashOf = (text) => createHash('sha256').update(text).digest('base64url');
const inForce = `"${hashOf('policy')}","${hashOf('catalogue')}",[["regions",2]],["DE",false,344]`;
/** Two hours of requests, so that hours and their sums are mixed as in a backlog. */
const spreadMs = 7_200_000;

export function writeBacklog(dir, { records, accounts }) {
  const writer = new RecordWriter(Buffer.allocUnsafe(1 << 20));
  const from = Date.now() - spreadMs;
  let base = 0;
  let size = 0;
  let number = 1;
  let fd = openSync(join(dir, segmentName(number, run, base)), 'wx', 0o600);
  const flush = () => {
    writeSync(fd, writer.bytes, 0, writer.at);
    size += writer.at;
    writer.at = 0;
  };
  for (let i = 0; i < records; i++) {
    const generation = generationAt(i, Math.floor(from + (i / records) * spreadMs), accounts);
    while (!writer.write('final', generation)) flush();
    if (size + writer.at < segmentBytes) continue;
    flush();
    closeSync(fd);
    base += size;
    size = 0;
    fd = openSync(join(dir, segmentName(++number, run, base)), 'wx', 0o600);
  }
  flush();
  closeSync(fd);
}

/** Every twentieth is a failure, which costs nothing. */
function generationAt(i, at, accounts) {
  const ok = i % 20 !== 0;
  const account = (i * 7) % accounts;
  const model = models[i % models.length];
  const [promptTokens, completionTokens] = [12 + (i % 900), 1 + ((i * 31) % 700)];
  const firstByteMs = 50 + ((i * 13) % 900) + 0.25;
  return {
    ...{
      id: generationId(at),
      requestId: requestId(at),
      accountId: `acct-${account}`,
      keyId: `key-${account}-${i % 2}`,
    },
    ...{
      keyName: 'production',
      createdAt: at,
      requestedModel: `auto/${model}`,
      streamed: i % 3 === 0,
      status: ok ? 200 : 503,
    },
    ...{ servedModel: ok ? `acme/${model}/defra` : null, provider: ok ? 'acme' : null, locode: ok ? 'defra' : null },
    ...{ promptTokens, completionTokens, cachedTokens: 0, reasoningTokens: 0, billed: ok },
    costPico: ok ? BigInt(promptTokens) * 600_000n + BigInt(completionTokens) * 800_000n : 0n,
    ...{ latencyMs: firstByteMs + (i % 4_000), firstByteMs: ok ? firstByteMs : null, providersAttempted: ['acme'] },
    ...{ fallbackOccurred: false, finishReason: ok ? 'stop' : null, streamEnd: ok ? 'complete' : null },
    ...{ usageSource: ok ? 'provider' : null, errorCode: ok ? null : 'provider_error', door: 'chat' },
    attempts: [
      {
        ...{ provider: 'acme', locode: 'defra', outcome: ok ? 'served' : 'provider_error', status: ok ? 200 : 500 },
        ...{ first_byte_ms: ok ? firstByteMs : null, error: ok ? null : 'out of order' },
      },
    ],
    bill: ok
      ? {
          lines: [
            { name: 'input', count: promptTokens, rate: 600_000n },
            { name: 'output', count: completionTokens, rate: 800_000n },
          ],
          tier: null,
        }
      : null,
    requestPolicy: null,
    proof: `[${inForce},"${hashOf(`request ${i}`)}","${hashOf(`answer ${i}`)}"]`,
    ...{ projectId: null, holderId: null },
  };
}
