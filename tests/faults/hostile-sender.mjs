/** A thread that makes bodies of nearly 32 MiB and sends them, apart from the test's own event loop: building one blocks for seconds. */
import { Agent, request } from 'node:http';
import { parentPort } from 'node:worker_threads';

const bytesMax = 33_554_432 - 64;
const agent = new Agent({ maxSockets: 64 });

/** A list of many small values under a field that is passed on as it is, or in the place of the messages. */
const shapes = {
  'deep nesting': (head) =>
    `${head},"x":${'['.repeat((bytesMax - head.length - 20) / 2)}${']'.repeat((bytesMax - head.length - 20) / 2)}}`,
  'deep nesting of objects': (head) => `${head},"x":${filled('{"a":', '', head.length + 20, '')}1`,
  'tiny numbers': (head) => `${head},"x":[${filled('1,', '1]}', head.length + 10)}`,
  'empty arrays': (head) => `${head},"x":[${filled('[],', '[]]}', head.length + 10)}`,
  keys: (head) => `${head},"x":{${keys(bytesMax - head.length - 30)}"z":1}}`,
  'one string of escapes': (head) => `${head},"x":"${filled('\\u00e9', '"}', head.length + 10)}`,
  'empty objects in messages': (head) =>
    `${head.replace(/,"messages".*/, ',"messages":[')}${filled('{},', '{}]}', head.length + 10)}`,
  messages: (head) =>
    `${head.replace(/,"messages".*/, ',"messages":[')}${filled('{"role":"user","content":"a"},', '{"role":"user","content":"a"}]}', head.length + 80)}`,
};

function filled(piece, last, taken) {
  return piece.repeat(Math.floor((bytesMax - taken) / piece.length)) + last;
}

function keys(bytes) {
  const pieces = [];
  for (let length = 0, at = 0; length < bytes; at++) {
    const piece = `"${at.toString(36)}":0,`;
    pieces.push(piece);
    length += piece.length;
  }
  return pieces.join('');
}

function send(url, headers, body) {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const req = request(
      `${url}/v1/chat/completions`,
      {
        method: 'POST',
        agent,
        headers: { ...headers, 'content-type': 'application/json', 'content-length': body.length },
      },
      (res) => {
        let text = '';
        res.on('data', (piece) => {
          if (text.length < 2_000) text += piece;
        });
        res.on('end', () =>
          resolve({ status: res.statusCode, text: text.slice(0, 2_000), ms: performance.now() - startedAt }),
        );
      },
    );
    req.on('error', (error) => resolve({ status: 0, text: String(error), ms: performance.now() - startedAt }));
    req.end(body);
  });
}

parentPort.on('message', async ({ make, post }) => {
  if (make) {
    globalThis.body = Buffer.from(
      shapes[make.shape](`{"model":"${make.model}","messages":[{"role":"user","content":"hi"}]`),
      'latin1',
    );
    parentPort.postMessage({ bytes: globalThis.body.length });
    return;
  }
  const { url, headers, count } = post;
  parentPort.postMessage(await Promise.all(Array.from({ length: count }, () => send(url, headers, globalThis.body))));
});
