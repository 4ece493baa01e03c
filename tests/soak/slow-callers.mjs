/**
 * Slow and greedy callers at the real times of docs/decisions/0012, while an honest caller asks four times a second: silent
 * connections beyond the cap, heads and bodies that drip in, kept connections that idle, answers that nobody reads. Six minutes.
 *
 *   node tests/soak/slow-callers.mjs
 */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { Checks, model, pause, processFigures, startSoakGateway } from './soak-gateway.mjs';

const answer = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'upstream-model',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
});
const upstream = createServer((req, res) =>
  req.resume().on('end', () => res.writeHead(200, { 'content-type': 'application/json' }).end(answer)),
);
await new Promise((resolve) => upstream.listen(0, '127.0.0.1', resolve));
const gateway = await startSoakGateway({ upstreamUrl: `http://127.0.0.1:${upstream.address().port}` });
const { port } = new URL(gateway.url);
const checks = new Checks();
const authorization = `Bearer ${gateway.account.key}`;

/** Opens a connection, says something, then a byte every five seconds where that is asked; resolves when it is closed. */
function slow({ first = '', drips = false, reads = true }) {
  const startedAt = performance.now();
  const socket = connect({ host: '127.0.0.1', port: Number(port) });
  let received = '';
  let closed = () => {};
  const over = new Promise((resolve) => {
    closed = () => resolve({ seconds: (performance.now() - startedAt) / 1000, status: received.slice(9, 12) });
  });
  socket.on('error', () => {});
  socket.on('close', () => closed());
  if (reads) {
    socket.on('data', (bytes) => {
      received ||= bytes.toString('latin1', 0, 40);
    });
  }
  socket.once('connect', () => first && socket.write(first));
  const timer = drips && setInterval(() => socket.writable && socket.write('x'), 5_000);
  return { socket, over: over.finally(() => clearInterval(timer)) };
}

let stopped = false;
const honestMs = [];
let refused = 0;
const honest = (async () => {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Say hello.' }] });
  while (!stopped) {
    const startedAt = performance.now();
    const headers = { authorization, 'content-type': 'application/json', connection: 'close' };
    const status = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body }).then(
      async (response) => (await response.text()) && response.status,
      () => 0,
    );
    if (status !== 200) refused++;
    honestMs.push(performance.now() - startedAt);
    await pause(250);
  }
})();

const beforeMb = processFigures(gateway.pid).rssMb;
const crowd = [];
for (let at = 0; at < 12_000; at++) {
  crowd.push(slow({}));
  if (at % 200 === 199) await pause(50);
}
await pause(3_000);
const crowded = processFigures(gateway.pid);
console.log(`12,000 silent connections: ${crowded.sockets} sockets, ${crowded.rssMb - beforeMb} MB more than before`);
checks.check('no more than 10,000 of them are open', crowded.sockets <= 10_050);
for (const { socket } of crowd) socket.destroy();
await Promise.all(crowd.map(({ over }) => over));

const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\n`;
const many = (count, options) => Promise.all(Array.from({ length: count }, () => slow(options).over));
/** More than all buffers take, so that the rest waits here and the end of the connection is seen. */
const pipelined = `GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`.repeat(100_000);
const between = (found, low, high) => found.every(({ seconds }) => seconds >= low && seconds <= high);
const shown = (found) =>
  `${Math.min(...found.map((one) => one.seconds)).toFixed(1)} to ${Math.max(...found.map((one) => one.seconds)).toFixed(1)} s`;

const [heads, silent, idle, unread, bodies] = await Promise.all([
  many(50, { first: 'GET /healthz HTTP/1.1\r\nhost: x\r\nx: ', drips: true }),
  many(50, {}),
  many(50, { first: 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n' }),
  // Later, because so many requests at once take the gateway some time, in which it would not see the others begin.
  pause(2_000).then(() => many(5, { first: pipelined, reads: false })),
  many(50, { first: `${head}content-length: 99999\r\n\r\n{`, drips: true }),
]);
stopped = true;
await honest;

checks.check(
  `heads that drip end with 408 after ${shown(heads)}`,
  between(heads, 20, 27) && heads.every(({ status }) => status === '408'),
);
checks.check(`silent connections end after ${shown(silent)}`, between(silent, 20, 27));
checks.check(`idle kept connections end after ${shown(idle)}`, between(idle, 75, 80));
checks.check(`answers that nobody reads end after ${shown(unread)}`, between(unread, 75, 170));
checks.check(
  `bodies that drip end with 408 after ${shown(bodies)}`,
  between(bodies, 300, 307) && bodies.every(({ status }) => status === '408'),
);
honestMs.sort((a, b) => a - b);
const p99 = honestMs[Math.floor(honestMs.length * 0.99)];
console.log(
  `honest requests: ${honestMs.length}, median ${honestMs[honestMs.length >> 1].toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${honestMs.at(-1).toFixed(1)} ms`,
);
checks.check(`every honest request was answered (${refused} were not)`, refused === 0);
const after = processFigures(gateway.pid);
console.log(`at the end: ${after.sockets} sockets, ${after.rssMb} MB (before ${beforeMb}, peak ${after.peakRssMb})`);
checks.check('the gateway stops as it should', (await gateway.stop()) === 0);
upstream.close();
checks.finish();
