/**
 * The thread of a co-tenant: its own upstream, and a client that sends one tiny chat or question for its key every 10 ms, or as often as it is told, unless two still wait for
 * their answer: a queue of its own making would be measured too. Both run outside the test's event loop, so the delays measured are
 * the gateway's. Time in which the gateway's main thread or this thread waited
 * for a processor does not count: then the machine was busy, not the gateway.
 */
import { readFileSync } from 'node:fs';
import { Agent, createServer, request as httpRequest } from 'node:http';
import { parentPort } from 'node:worker_threads';

const answer = JSON.stringify({
  id: 'co',
  object: 'chat.completion',
  created: 1,
  model: 'upstream-model',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

const upstream = createServer((req, res) => {
  req.resume();
  req.on('end', () => res.writeHead(200, { 'content-type': 'application/json' }).end(answer));
});
upstream.listen(0, '127.0.0.1', () => parentPort.postMessage({ port: upstream.address().port }));

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
/** A report on fewer says nothing. */
const samplesMin = 12;

let timer;
let waiting = 0;
let count = 0;
let samples = [];
let failures = [];

/** Milliseconds that the gateway's main thread has run so far; 0 where the system does not tell. */
function ranMs(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return 0;
  }
}

/** Milliseconds that this thread could have run and had no processor; 0 where the system does not tell. */
function keptWaitingMs() {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

function send({ url, key, model, pid }) {
  const ranBefore = ranMs(pid);
  const waitedBefore = keptWaitingMs();
  const startedAt = performance.now();
  waiting++;
  const ended = (failure) => {
    waiting--;
    const elapsed = performance.now() - startedAt;
    const ran = ranMs(pid) - ranBefore;
    const kept = keptWaitingMs() - waitedBefore;
    samples.push({ elapsed, own: ranBefore > 0 ? Math.max(0, Math.min(elapsed, ran) - kept) : elapsed });
    if (failure) failures.push(failure);
  };
  // Every other one asks for the key: it goes another way through the gateway than a chat.
  const asksKey = ++count % 2 === 0;
  const body = asksKey ? '' : JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] });
  const headers = {
    authorization: `Bearer ${key}`,
    ...(!asksKey && { 'content-type': 'application/json', 'content-length': body.length }),
  };
  const [method, path] = asksKey ? ['GET', '/v1/key'] : ['POST', '/v1/chat/completions'];
  const req = httpRequest(`${url}${path}`, { method, headers, agent }, (res) => {
    res.resume();
    res.on('end', () => ended(res.statusCode === 200 ? '' : `${path}: status ${res.statusCode}`));
  });
  req.on('error', (error) => ended(`${path}: ${String(error)}`));
  req.end(body);
}

parentPort.on('message', (message) => {
  if (message.start) {
    samples = [];
    failures = [];
    timer = setInterval(() => waiting < 2 && send(message.start), message.start.everyMs ?? 10);
    return;
  }
  const report = setInterval(() => {
    if (samples.length < samplesMin) return;
    clearInterval(timer);
    if (waiting > 0) return;
    clearInterval(report);
    parentPort.postMessage({ samples, failures });
  }, 5);
});
