/**
 * Very many streams at once: every byte of each arrives, and the gateway's memory stays within its bounds.
 *
 *   node tests/soak/streams.mjs --streams 3000 --chunks 50
 *
 * Needs two files a stream in this process and in the gateway: `ulimit -n 20000`.
 */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { parseArgs } from 'node:util';
import { admin, Checks, model, pause, processFigures, startSoakGateway } from './soak-gateway.mjs';

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '3000' },
    chunks: { type: 'string', default: '50' },
    gap: { type: 'string', default: '200' },
  },
});
const [streams, chunks, gapMs] = [Number(values.streams), Number(values.chunks), Number(values.gap)];
const idleMbMax = 150;
const peakMbMax = 400;

const textOf = (stream, at) => ` ${stream}.${at} Zürich 🚀`;
const frame = (body) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'upstream-model', ...body })}\n\n`;

const upstream = createServer(async (req, res) => {
  const pieces = [];
  for await (const piece of req) pieces.push(piece);
  const stream = Number(JSON.parse(Buffer.concat(pieces).toString()).messages[0].content);
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let at = 0; at < chunks; at++) {
    res.write(frame({ choices: [{ index: 0, delta: { content: textOf(stream, at) }, finish_reason: null }] }));
    await pause(gapMs);
  }
  const usage = { prompt_tokens: 5, completion_tokens: chunks, total_tokens: chunks + 5 };
  res.end(
    `${frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}${frame({ choices: [], usage })}data: [DONE]\n\n`,
  );
});
await new Promise((resolve) => upstream.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, resolve));

const gateway = await startSoakGateway({ upstreamUrl: `http://127.0.0.1:${upstream.address().port}` });
const { hostname, port } = new URL(gateway.url);
await pause(1_000);
const idle = processFigures(gateway.pid);
console.log('idle:', JSON.stringify(idle));

/** The whole body, out of its chunked coding. */
function one(stream) {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: String(stream) }] });
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    const pieces = [];
    socket.on('connect', () =>
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: soak\r\nconnection: close\r\nauthorization: Bearer ${gateway.account.key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      ),
    );
    socket.on('data', (bytes) => pieces.push(bytes));
    socket.on('error', (error) => resolve(String(error)));
    socket.on('close', () => resolve(Buffer.concat(pieces)));
  });
}

function faultOf(stream, bytes) {
  if (typeof bytes === 'string') return bytes;
  const text = unchunked(bytes.subarray(bytes.indexOf('\r\n\r\n') + 4)).toString('utf8');
  const frames = text.split('\n\n');
  if (frames.pop() !== '' || frames.pop() !== 'data: [DONE]') return `it does not end in [DONE]: ${text.slice(-200)}`;
  const parsed = frames.map((one) => JSON.parse(one.slice('data: '.length)));
  const content = parsed.map(({ choices }) => choices[0]?.delta?.content ?? '').join('');
  const wanted = Array.from({ length: chunks }, (_, at) => textOf(stream, at)).join('');
  if (content !== wanted) return `its text differs: ${content.slice(0, 100)}`;
  if (new Set(parsed.map(({ id }) => id)).size !== 1) return 'its frames have several ids';
  return parsed.at(-1).router_metadata?.stream_end === 'complete' ? null : 'it is not complete';
}

function unchunked(bytes) {
  const pieces = [];
  for (let at = 0; at < bytes.length; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    if (!(size > 0)) break;
    pieces.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 4 + size;
  }
  return Buffer.concat(pieces);
}

let peakMb = 0;
let mostSockets = 0;
const watch = setInterval(() => {
  const { rssMb, sockets } = processFigures(gateway.pid);
  peakMb = Math.max(peakMb, rssMb);
  mostSockets = Math.max(mostSockets, sockets);
}, 250);
const startedAt = performance.now();
const running = [];
for (let stream = 0; stream < streams; stream++) {
  running.push(one(stream));
  if (stream % 50 === 49) await pause(20);
}
const faults = (await Promise.all(running)).map((bytes, stream) => faultOf(stream, bytes)).filter(Boolean);
const seconds = (performance.now() - startedAt) / 1000;
clearInterval(watch);
const { peakRssMb } = processFigures(gateway.pid);
console.log(
  `${streams} streams of ${chunks} chunks in ${seconds.toFixed(1)} s; at most ${mostSockets} sockets; peak ${Math.max(peakMb, peakRssMb)} MB`,
);

const checks = new Checks();
checks.check(`idle after start at most ${idleMbMax} MB (${idle.rssMb})`, idle.rssMb <= idleMbMax);
checks.check(
  `every stream arrived byte for byte (${faults.length} faults ${faults.slice(0, 3).join('; ')})`,
  faults.length === 0,
);
checks.check(`they ran at the same time (${mostSockets} sockets)`, mostSockets >= streams * 2);
checks.check(
  `at most ${peakMbMax} MB at the peak (${Math.max(peakMb, peakRssMb)})`,
  Math.max(peakMb, peakRssMb) <= peakMbMax,
);
const ledger = await admin(gateway.url, 'GET', `/accounts/${gateway.account.id}/ledger?limit=100000`);
checks.check('each is in the ledger once', ledger.data.filter(({ kind }) => kind === 'usage').length === streams);
checks.check('the gateway stops cleanly', (await gateway.stop()) === 0);
upstream.closeAllConnections();
upstream.close();
checks.finish();
