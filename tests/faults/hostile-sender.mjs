/** A thread that makes large bodies and sends them, apart from the test's own event loop: building one blocks for seconds. */
import { Agent, request } from 'node:http';
import { parentPort } from 'node:worker_threads';
import { WebSocket } from 'ws';
import { bodyWith, largeValue } from './generator/large-values.mjs';

const agent = new Agent({ maxSockets: 64 });
const answerBytesMax = 10_000;
let body;

/** `shape` is that of a large value, or a text that is repeated in the place. */
function make({ template, shape, repeated, bytes }) {
  const room = bytes - template.length;
  const value = repeated ? repeated.repeat(Math.floor(room / repeated.length)) : largeValue(shape, room);
  body = Buffer.from(bodyWith(template, value), 'latin1');
  return body.length;
}

function send({ url, method = 'POST', path = '/v1/chat/completions', headers }) {
  const startedAt = performance.now();
  const all = { ...headers, 'content-type': 'application/json', 'content-length': body.length };
  return new Promise((resolve) => {
    const ended = (status, text) => resolve({ status, text, ms: performance.now() - startedAt });
    const req = request(`${url}${path}`, { method, agent, headers: all }, (res) => {
      let text = '';
      res.on('data', (piece) => {
        if (text.length < answerBytesMax) text += piece;
      });
      res.on('end', () => ended(res.statusCode, text.slice(0, answerBytesMax)));
    });
    req.on('error', (error) => ended(0, String(error)));
    req.end(body);
  });
}

/** As a message of a WebSocket. The status is that of the first error, the code of the close, or 200. */
function sendMessage({ url, headers }) {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, { headers });
    const ended = (status, text) => {
      resolve({ status, text, ms: performance.now() - startedAt });
      socket.terminate();
    };
    socket.on('open', () => socket.send(body, { binary: false }));
    socket.on('message', (data) => {
      const text = String(data).slice(0, answerBytesMax);
      const { type, status } = JSON.parse(String(data));
      if (type === 'error') ended(status, text);
      else if (type === 'response.completed' || type === 'response.incomplete') ended(200, text);
    });
    socket.on('close', (code, reason) => ended(code, String(reason)));
    socket.on('error', (error) => ended(0, String(error)));
  });
}

parentPort.on('message', async ({ make: made, post, message }) => {
  if (made) parentPort.postMessage({ bytes: make(made) });
  else if (message) parentPort.postMessage([await sendMessage(message)]);
  else parentPort.postMessage(await Promise.all(Array.from({ length: post.count ?? 1 }, () => send(post))));
});
