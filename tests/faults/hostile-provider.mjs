/**
 * A thread with a provider whose answer is made beforehand, and with the client that asks for it: building and reading bodies of megabytes
 * does not delay what the test measures.
 */
import { Agent, createServer, request } from 'node:http';
import { parentPort } from 'node:worker_threads';
import { answerOf, requestOf } from './generator/hostile-answers.mjs';

const agent = new Agent({ maxSockets: 16 });
let answer = { status: 200, type: 'application/json', pieces: [] };

const provider = createServer(async (req, res) => {
  const { status, type, pieces } = answer;
  for await (const _ of req);
  res.on('error', () => {});
  res.writeHead(status, { 'content-type': type });
  for (const piece of pieces) {
    if (res.destroyed) return;
    // Otherwise all pieces wait in memory, and a client that left would go unnoticed.
    if (!res.write(piece)) await room(res);
  }
  res.end();
});
provider.listen(0, '127.0.0.1', () => parentPort.postMessage({ port: provider.address().port }));

function room(res) {
  return new Promise((resolve) => {
    const goOn = () => {
      res.off('drain', goOn).off('close', goOn);
      resolve();
    };
    res.on('drain', goOn).on('close', goOn);
  });
}

/** Reads the answer to its end, and keeps its beginning. */
function ask({ path, body }, { url, key }) {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    let text = '';
    let bytes = 0;
    const ended = (status) => resolve({ status, text, bytes, ms: performance.now() - startedAt });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const req = request(`${url}${path}`, { method: 'POST', agent, headers }, (res) => {
      res.on('data', (piece) => {
        bytes += piece.length;
        if (text.length < 2_000) text += piece.toString('latin1').slice(0, 2_000);
      });
      res.on('close', () => ended(res.statusCode));
    });
    req.on('error', (error) => {
      text = String(error);
      ended(0);
    });
    req.end(body);
  });
}

parentPort.on('message', async ({ make, post }) => {
  if (make) {
    answer = answerOf(make.hostile, make.bytes);
    parentPort.postMessage({ bytes: answer.pieces.reduce((sum, piece) => sum + piece.length, 0) });
    return;
  }
  const { hostile, count = 1, ...caller } = post;
  const replies = await Promise.all(Array.from({ length: count }, () => ask(requestOf(hostile), caller)));
  parentPort.postMessage(replies);
});
