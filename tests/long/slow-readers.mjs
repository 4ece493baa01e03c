/**
 * Callers that never read, and long streams whose provider reports no usage: the memory of the whole process tree grows by less
 * than 100 MB, no request of another account waits 250 ms, and every stream is billed.
 *
 *   node tests/long/slow-readers.mjs --readers 200 --streams 10 --megabytes 150
 */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { admin, Checks, model, otherModel, pause, startSoakGateway } from '../soak/soak-gateway.mjs';
import { treeMegabytes } from './process-tree.mjs';

const { values } = parseArgs({
  options: {
    readers: { type: 'string', default: '200' },
    streams: { type: 'string', default: '10' },
    megabytes: { type: 'string', default: '150' },
  },
});
const [readers, streams, megabytes] = [Number(values.readers), Number(values.streams), Number(values.megabytes)];
const growthMbMax = 100;
const delayMsMax = 250;

const frame = (content) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'upstream-model', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
const words = ['the', ' gateway', ' counts', ' 1234', ',', ' “quoted”', '\n', ' lodestone', ' Zürich', ' 字典'];
const block = Buffer.from(
  Array.from({ length: 300 }, (_, at) => frame(words[at % words.length] + words[(at * 7) % words.length])).join(''),
);
const textBytes = Array.from({ length: 300 }, (_, at) =>
  Buffer.byteLength(words[at % words.length] + words[(at * 7) % words.length]),
).reduce((sum, bytes) => sum + bytes, 0);
/** Bytes that the upstream could hand over, by stream. */
const handedOver = new Map();

/** `reader …` gets frames without end; `stream …` gets the wanted size and no usage. */
const upstream = createServer(async (req, res) => {
  const pieces = [];
  for await (const piece of req) pieces.push(piece);
  const [kind, name] = JSON.parse(Buffer.concat(pieces).toString()).messages[0].content.split(' ');
  const bytesMax = kind === 'stream' ? megabytes * 1e6 : Number.POSITIVE_INFINITY;
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.on('error', () => {});
  let sent = 0;
  let goOn = () => {};
  res.on('drain', () => goOn()).on('close', () => goOn());
  while (sent < bytesMax && !res.destroyed) {
    sent += block.length;
    const drained = new Promise((resolve) => {
      goOn = resolve;
    });
    if (!res.write(block)) await drained;
    handedOver.set(`${kind} ${name}`, sent);
  }
  if (!res.destroyed) res.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
});
await new Promise((resolve) => upstream.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }, resolve));

/** Its own upstream is in its own thread: what it waits for is the gateway, not this script. */
const coTenant = new Worker(new URL('../faults/co-tenant-thread.mjs', import.meta.url));
const next = () => new Promise((resolve) => coTenant.once('message', resolve));
const { port: coTenantPort } = await next();

const gateway = await startSoakGateway({
  upstreamUrl: `http://127.0.0.1:${upstream.address().port}`,
  otherUrl: `http://127.0.0.1:${coTenantPort}`,
  config: { timeouts: { overall: '20m', stream_idle: '10m' } },
});
const { port } = new URL(gateway.url);
const checks = new Checks();

function ask(content) {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content }] });
  const socket = connect({ host: '127.0.0.1', port: Number(port) });
  socket.on('error', () => {});
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${gateway.account.key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

/** Reads a stream to its end and keeps nothing but its length and its last bytes. */
function readToEnd(content) {
  return new Promise((resolve) => {
    let bytes = 0;
    let end = '';
    ask(content)
      .on('data', (piece) => {
        bytes += piece.length;
        end = (end + piece.toString('latin1')).slice(-2_000);
      })
      .on('close', () => resolve({ bytes, end }));
  });
}

const other = await admin(gateway.url, 'POST', '/accounts', { email: 'co-tenant@example.test' });
await admin(gateway.url, 'POST', `/accounts/${other.id}/credits`, { amount_usd: '100.00' });
const { token } = await admin(gateway.url, 'POST', `/accounts/${other.id}/keys`, { name: 'co', expires: 'never' });
const watch = () =>
  coTenant.postMessage({ start: { url: gateway.url, key: token, model: otherModel, pid: gateway.pid } });
const unwatch = async (what) => {
  coTenant.postMessage({ stop: true });
  const { samples, failures } = await next();
  const longest = Math.max(...samples.map(({ own }) => own));
  const measured = Math.max(...samples.map(({ elapsed }) => elapsed));
  console.log(`     ${samples.length} requests of another account, longest ${measured.toFixed(0)} ms by the wall`);
  checks.check(`${what}: every other request was served (${failures.length} were not)`, failures.length === 0);
  checks.check(
    `${what}: no other request waited ${delayMsMax} ms (longest ${longest.toFixed(0)} ms)`,
    longest < delayMsMax,
  );
};

/** Memory is compared with that of a gateway that has served, and has counted a stream: the tokenizer itself stays loaded. */
watch();
await pause(3_000);
await unwatch('before');
const cold = treeMegabytes(gateway.pid);
const warmUp = ask('reader warm-up');
warmUp.resume();
await pause(3_000);
warmUp.destroy();
await pause(3_000);
const before = treeMegabytes(gateway.pid);
console.log(`     memory before: ${cold.toFixed(0)} MB, ${before.toFixed(0)} MB after a first counted stream`);

/** The largest growth while `work` goes on. */
async function growthDuring(work) {
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, treeMegabytes(gateway.pid));
  }, 500);
  await work();
  clearInterval(timer);
  return Math.max(peak, treeMegabytes(gateway.pid)) - before;
}

async function neverRead() {
  const sockets = Array.from({ length: readers }, (_, at) => ask(`reader ${at}`).pause());
  let settled = -1;
  for (let tries = 0; tries < 600; tries++) {
    await pause(1_000);
    const sum = [...handedOver.values()].reduce((total, bytes) => total + bytes, 0);
    if (sum === settled && handedOver.size > readers) break;
    settled = sum;
  }
  console.log(`     ${readers} readers that never read: ${(settled / 1e6).toFixed(0)} MB went into buffers`);
  await pause(3_000);
  return sockets;
}

watch();
let sockets = [];
const readerGrowth = await growthDuring(async () => {
  sockets = await neverRead();
});
await unwatch(`${readers} readers`);
checks.check(`${readers} readers: memory grew by ${readerGrowth.toFixed(0)} MB`, readerGrowth < growthMbMax);

watch();
const startedAt = performance.now();
let ends = [];
const streamGrowth = await growthDuring(async () => {
  ends = await Promise.all(Array.from({ length: streams }, (_, at) => readToEnd(`stream ${at}`)));
});
const seconds = (performance.now() - startedAt) / 1000;
await unwatch(`${streams} streams`);
const total = ends.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
console.log(`     ${streams} streams, ${total.toFixed(0)} MB in ${seconds.toFixed(0)} s`);
checks.check(
  `${streams} streams beside ${readers} readers: memory grew by ${streamGrowth.toFixed(0)} MB`,
  streamGrowth < growthMbMax,
);
checks.check(
  'every stream arrived to its end',
  ends.every(({ end }) => end.includes('data: [DONE]')),
);

for (const socket of sockets) socket.destroy();
const wanted = readers + streams + 1;
let records = [];
for (let tries = 0; tries < 120 && records.length < wanted; tries++) {
  await pause(1_000);
  records = await everyRecord();
}
checks.check(`every stream has its record (${records.length} of ${wanted})`, records.length === wanted);
const blocks = Math.ceil((megabytes * 1e6) / block.length);
const finished = records.filter(({ stream_end }) => stream_end === 'complete');
const figures = new Set(finished.map(({ completion_tokens }) => completion_tokens));
const perBlock = [...figures][0] / blocks;
console.log(`     ${[...figures].join(', ')} tokens a stream, ${(textBytes / perBlock).toFixed(2)} bytes a token`);
checks.check('equal streams have equal counts', finished.length === streams && figures.size === 1);
checks.check(
  'all of them are counted',
  records.every(({ completion_tokens }) => completion_tokens > 0),
);

async function everyRecord() {
  const found = [];
  for (;;) {
    const after = found.length > 0 ? `&after=${found.at(-1).id}` : '';
    const response = await fetch(`${gateway.url}/v1/generations?limit=100${after}`, {
      headers: { authorization: `Bearer ${gateway.account.key}` },
    });
    const page = await response.json();
    found.push(...page.data);
    if (!page.has_more) return found;
  }
}

console.log(`     memory at the end: ${treeMegabytes(gateway.pid).toFixed(0)} MB`);
await coTenant.terminate();
checks.check('the gateway stops as it should', (await gateway.stop()) === 0);
upstream.closeAllConnections();
upstream.close();
checks.finish();
