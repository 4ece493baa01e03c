/**
 * The reference: the least that a proxy with `node:http` and undici can do. It buffers the request, forwards it unchanged with
 * `dispatch` on a kept connection, and passes the answer back as it arrives, without reading either. Prints its port.
 */
import { createServer } from 'node:http';
import { Client } from 'undici';

const origin = process.argv[2];
const idle = [];
const perHop = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date']);

function takeClient() {
  return (
    idle.pop() ?? new Client(origin, { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 60_000 })
  );
}

/** undici's own low-level handler: raw header bytes, no stream and no promise in between. */
class PassBack {
  constructor(response, client) {
    this.response = response;
    this.client = client;
    this.resume = undefined;
    this.abort = undefined;
    response.on('drain', () => this.resume?.());
    response.on('close', () => {
      if (!response.writableFinished) this.abort?.();
    });
  }

  onConnect(abort) {
    this.abort = abort;
  }

  onHeaders(status, rawHeaders, resume) {
    if (status < 200) return true;
    this.resume = resume;
    const headers = [];
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i].latin1Slice();
      if (!perHop.has(name.toLowerCase())) headers.push(name, rawHeaders[i + 1].latin1Slice());
    }
    this.response.writeHead(status, headers);
    return true;
  }

  onData(bytes) {
    return this.response.write(bytes);
  }

  onComplete() {
    idle.push(this.client);
    this.response.end();
  }

  onError(error) {
    void this.client.destroy();
    if (this.response.headersSent) return this.response.destroy();
    this.response.writeHead(502, { 'content-type': 'text/plain' });
    this.response.end(error.message);
  }
}

const server = createServer((request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    const body = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
    const client = takeClient();
    const headers = { 'content-type': 'application/json', authorization: request.headers.authorization };
    client.dispatch({ path: request.url, method: request.method, headers, body }, new PassBack(response, client));
  });
});
server.keepAliveTimeout = 75_000;
server.listen({ port: 0, host: '127.0.0.1', backlog: 2_048 }, () => console.log(`port ${server.address().port}`));
