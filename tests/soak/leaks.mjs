/**
 * Half of very many requests are broken off at random moments: before their body is sent, before the first byte, in the middle
 * of a stream. Afterwards the gateway must hold no more memory, sockets, handles or timers than before.
 *
 *   node tests/soak/leaks.mjs --requests 200000
 */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { parseArgs } from 'node:util';
import { admin, Checks, model, pause, processFigures, startSoakGateway } from './soak-gateway.mjs';

const { values } = parseArgs({ options: { requests: { type: 'string', default: '20000' } } });
const requests = Number(values.requests);
const concurrency = 48;
const grownMbMax = 64;

const chunkOf = (delta, more = {}) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'upstream-model', choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;
const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const answer = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'upstream-model',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there.' }, finish_reason: 'stop' }],
  usage,
});

const upstream = createServer(async (req, res) => {
  const pieces = [];
  for await (const piece of req) pieces.push(piece);
  const { stream } = JSON.parse(Buffer.concat(pieces).toString());
  await pause(Math.random() * 6);
  if (!stream) return res.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let at = 0; at < 6 && !res.destroyed; at++) {
    res.write(chunkOf({ content: ' word' }));
    await pause(2);
  }
  return res.end(
    `data: ${JSON.stringify({ model: 'upstream-model', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: ${JSON.stringify({ model: 'upstream-model', choices: [], usage })}\n\ndata: [DONE]\n\n`,
  );
}).on('clientError', (_error, socket) => socket.destroy());
await new Promise((resolve) => upstream.listen(0, '127.0.0.1', resolve));

/** Tells, when it is asked by a signal, what the process still holds after a collection. */
const teller = `process.on('SIGUSR2',()=>{gc();gc();const resources={};for(const name of process.getActiveResourcesInfo())resources[name]=(resources[name]??0)+1;
const {heapUsed,external}=process.memoryUsage();process.stderr.write('HELD '+JSON.stringify({heapMb:Math.round(heapUsed/1e6),externalMb:Math.round(external/1e6),resources})+'\\n')})`;
const gateway = await startSoakGateway({
  upstreamUrl: `http://127.0.0.1:${upstream.address().port}`,
  nodeArgs: ['--expose-gc', '--import', `data:text/javascript,${encodeURIComponent(teller)}`],
});
const { hostname, port } = new URL(gateway.url);

const counts = { whole: 0, 'before body': 0, 'before first byte': 0, 'mid-stream': 0, failed: 0 };

/** One request on a connection of its own; resolves when that is closed. */
function one(kind, stream) {
  const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Say hello.' }] });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: soak\r\nconnection: close\r\nauthorization: Bearer ${gateway.account.key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let received = '';
    const leave = () => (Math.random() < 0.5 ? socket.destroy() : socket.resetAndDestroy());
    socket.on('connect', () => {
      if (kind === 'before body') {
        socket.write(head + body.slice(0, Math.random() * 40));
        setTimeout(leave, Math.random() * 4);
        return;
      }
      socket.write(head + body);
      if (kind === 'before first byte') setTimeout(leave, Math.random() * 5);
    });
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      if (kind === 'mid-stream' && received.split('"content"').length > 1 + Math.random() * 5) leave();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      counts[kind]++;
      if (kind === 'whole' && !/(\[DONE\]|router_metadata)/.test(received)) counts.failed++;
      resolve();
    });
  });
}

async function run(count) {
  let left = count;
  const kinds = ['before body', 'before first byte', 'mid-stream'];
  const caller = async () => {
    while (left-- > 0) {
      const kind = Math.random() < 0.5 ? 'whole' : kinds[Math.floor(Math.random() * 3)];
      await one(kind, kind === 'mid-stream' || Math.random() < 0.5);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
}

/** At rest: kept connections have been closed, threads that nobody needs are gone. */
async function atRest() {
  await pause(60_000);
  gateway.log.text = '';
  process.kill(gateway.pid, 'SIGUSR2');
  let held = null;
  while (held === null) {
    await pause(100);
    held = /HELD (\{.*\})\n/.exec(gateway.log.text);
  }
  return { ...processFigures(gateway.pid), ...JSON.parse(held[1]) };
}

console.log(`Warming up with ${Math.min(10_000, requests / 4)} requests.`);
await run(Math.min(10_000, requests / 4));
const before = await atRest();
console.log('before:', JSON.stringify(before));
const startedAt = performance.now();
await run(requests);
console.log(
  `${requests} requests in ${((performance.now() - startedAt) / 1000).toFixed(0)} s:`,
  JSON.stringify(counts),
);
const after = await atRest();
console.log('after: ', JSON.stringify(after));

const checks = new Checks();
checks.check('every request that was not broken off was answered', counts.failed === 0);
checks.check(
  `resident memory grew by less than ${grownMbMax} MB (${after.rssMb - before.rssMb})`,
  after.rssMb - before.rssMb < grownMbMax,
);
checks.check(`the heap grew by less than 10 MB (${after.heapMb - before.heapMb})`, after.heapMb - before.heapMb < 10);
checks.check(`no more sockets than before (${before.sockets}, ${after.sockets})`, after.sockets <= before.sockets + 1);
for (const name of new Set([...Object.keys(before.resources), ...Object.keys(after.resources)])) {
  const [was, is] = [before.resources[name] ?? 0, after.resources[name] ?? 0];
  checks.check(`no more ${name} than before (${was}, ${is})`, is <= was + 2);
}
const account = await admin(gateway.url, 'GET', `/accounts/${gateway.account.id}`);
console.log(`balance: ${account.balance_usd} USD`);
checks.check('the gateway stops cleanly', (await gateway.stop()) === 0);
upstream.closeAllConnections();
upstream.close();
checks.finish();
