/** Callers that neither read nor close: they hold nothing for longer than the overall budget. */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SpawnedGateway } from '../support/gateway.js';
import { requestBytes } from '../support/raw-http.js';
import * as up from '../support/scripted-upstream.js';
import { threadTime } from '../support/thread-time.js';
import { ask, expectAt, expectServes, generations, pause, type Rig, scaled, spawnRig } from './fixture.js';

let rig: Rig<SpawnedGateway>;
/** Long enough to fill the system's buffers on a machine that is ten times slower: what they take whole is an idle connection, which stays. */
const overallMs = 8_000;
beforeAll(async () => {
  rig = await spawnRig({ config: { timeouts: { stream_idle: '1200ms', overall: `${overallMs}ms` } } });
});
afterAll(() => rig.stop());

/** The gateway's ends of these callers' connections that are not yet closed: their state and queues, as the system sees them. */
function openEnds(callerPorts: readonly number[]): string[] {
  const ports = callerPorts.map((port) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`);
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, , remote, state, queues] = line.trim().split(/\s+/);
    // Established, waiting for the other side's end, or ended by it.
    return ports.some((port) => remote?.endsWith(port)) && /^0[148]$/.test(state!) ? [`${state} ${queues}`] : [];
  });
}

/** Sends the request and never reads a byte. */
async function neverReads(key: string): Promise<Socket> {
  const { hostname, port } = new URL(rig.gateway.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.pause();
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  socket.write(requestBytes('POST', '/v1/chat/completions', headers, JSON.stringify(ask({ stream: true }))));
  return socket;
}

it('callers that never read are let go with their upstreams at the overall budget, and no socket is left behind', async () => {
  const count = scaled(3, 50);
  const account = await rig.gateway.createAccount();
  // More than the system's own buffers take, however busy the machine is; little of it is text, which would have to be counted.
  const frame = Buffer.from(up.frameText({ ...up.chunk({ content: 'x' }), padding: 'x'.repeat(1_000_000) }));
  rig.upstream.reply(async (exchange) => {
    await exchange.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n');
    await exchange.write(up.frameText(up.chunk({ content: 'first' })));
    while (!exchange.call.aborted) await exchange.write(frame);
  });
  const waitedBefore = threadTime(rig.gateway.pid).keptWaitingMs;
  const sockets = await Promise.all(Array.from({ length: count }, () => neverReads(account.key)));
  // A closed socket has no port any more.
  const ports = sockets.map(({ localPort }) => localPort!);
  expect(openEnds(ports)).toHaveLength(count);
  await rig.upstream.waitForCalls(count);
  await rig.upstream.waitFor(() => rig.upstream.calls.every(({ aborted }) => aborted));
  const waitedMs = threadTime(rig.gateway.pid).keptWaitingMs - waitedBefore;
  for (const call of rig.upstream.calls) expectAt(call.abortedAt! - call.requestAt!, overallMs, waitedMs);
  // Megabytes of each are counted first.
  const records = await generations(rig.gateway, account, count, 60_000);
  expect(records).toHaveLength(count);
  for (const record of records) expect(['stalled', 'client_closed']).toContain(record.stream_end);
  const until = performance.now() + 20_000;
  while (openEnds(ports).length > 0 && performance.now() < until) await pause(50);
  expect(openEnds(ports)).toEqual([]);
  for (const socket of sockets) socket.destroy();
  await expectServes(rig);
}, 180_000);
