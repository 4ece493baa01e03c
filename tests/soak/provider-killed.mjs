/**
 * One of two providers becomes unreachable under a steady stream of `auto/` requests, in three ways: its process is killed, it hangs, it
 * breaks off. No caller may notice, it may see one probe at a time, and it serves again within a cooldown and a second of
 * its return.
 *
 *   node tests/soak/provider-killed.mjs --seconds 60 --rps 300 --cooldown 5
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Agent, request } from 'undici';
import { stringify } from 'yaml';
import { admin, Checks, pause, processFigures, startSoakGateway } from './soak-gateway.mjs';

const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const text = 'One two three.';

function answer(res, stream) {
  const common = { id: 'x', created: 1, model: 'upstream-model' };
  if (!stream) {
    const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }];
    res.writeHead(200, { 'content-type': 'application/json' });
    return res.end(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }));
  }
  const frame = (more) => `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', ...more })}\n\n`;
  const content = frame({ choices: [{ index: 0, delta: { content: text }, finish_reason: null }] });
  const finish = frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  return res.end(`${content}${finish}${frame({ choices: [], usage })}data: [DONE]\n\n`);
}

const behaviours = {
  well: (res, stream) => setTimeout(() => answer(res, stream), 15),
  failing: (res) => setTimeout(() => res.writeHead(500).end('{"error":{"message":"starting up"}}'), 200),
  hanging: () => {},
  breaking: (res) => res.writeHead(200).write('{"id":', () => res.socket?.resetAndDestroy()),
};

/** The provider's own process. It is told how to behave, and tells what it has seen since. */
function provider(port) {
  let mode = 'well';
  let [calls, inFlight, inFlightMax, watch] = [0, 0, 0, 0];
  const server = createServer(async (req, res) => {
    const pieces = [];
    for await (const piece of req) pieces.push(piece);
    const { stream } = JSON.parse(Buffer.concat(pieces).toString());
    const begunIn = watch;
    calls++;
    inFlightMax = Math.max(inFlightMax, ++inFlight);
    let over = false;
    const end = () => {
      if (!over && begunIn === watch) inFlight--;
      over = true;
    };
    res.once('close', end).once('finish', end);
    behaviours[mode](res, stream);
  });
  process.on('uncaughtException', (error) => {
    if (error.code !== 'ECONNRESET') throw error;
  });
  process.on('message', (message) => {
    if (message.report) return process.send({ calls, inFlight, inFlightMax });
    mode = message.mode ?? mode;
    [calls, inFlight, inFlightMax] = [0, 0, 0];
    watch++;
    return process.send({});
  });
  process.on('disconnect', () => process.exit());
  server.listen({ port, host: '127.0.0.1', backlog: 4096 }, () => process.send({ port: server.address().port }));
}

class ProviderProcess {
  port = 0;
  async start(mode = 'well') {
    this.child = fork(fileURLToPath(import.meta.url), ['provider', String(this.port)]);
    ({ port: this.port } = await this.told());
    await this.behave(mode);
  }
  told() {
    return new Promise((resolve) => this.child.once('message', resolve));
  }
  /** Counting starts again. */
  async behave(mode) {
    this.child.send({ mode });
    await this.told();
  }
  async seen() {
    this.child.send({ report: true });
    return this.told();
  }
  async kill() {
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await gone;
  }
}

function catalogueOf(providers) {
  return {
    providers: providers.map(({ id, port }) => {
      const base_url = `http://127.0.0.1:${port}/v1`;
      return { id, name: id, dialect: 'openai', base_url, auth: 'none', headquarters: 'DE' };
    }),
    regions: [{ locode: 'defra', city: 'Frankfurt', country: 'DE', lat: 50.1, lon: 8.7, carbon: 344 }],
    models: [
      {
        creator: 'meta',
        model: 'llama',
        context_window: 131_072,
        max_output_tokens: 8_192,
        // More expensive by so much that nothing which is observed puts the second one first.
        routes: providers.map(({ id, price }) => ({
          provider: id,
          locode: 'defra',
          upstream_model: 'upstream-model',
          price: { input: price, output: price },
        })),
      },
    ],
  };
}

async function soak() {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      rps: { type: 'string', default: '300' },
      cooldown: { type: 'string', default: '5' },
    },
  });
  const [seconds, rps, cooldownSeconds] = [Number(values.seconds), Number(values.rps), Number(values.cooldown)];
  const [first, second] = [new ProviderProcess(), new ProviderProcess()];
  await Promise.all([first.start(), second.start()]);
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-provider-killed-'));
  const catalogue = join(folder, 'catalogue.yaml');
  const [near, far] = [
    { id: 'near', port: first.port, price: 1 },
    { id: 'far', port: second.port, price: 100 },
  ];
  writeFileSync(catalogue, stringify(catalogueOf([near, far])));
  const gateway = await startSoakGateway({
    config: {
      catalogue: [catalogue],
      breaker: { failures: 5, window: '30s', cooldown: `${cooldownSeconds}s` },
      timeouts: {
        first_byte_streaming: '1s',
        first_byte_streaming_after_timeout: '1s',
        first_byte_non_streaming: '2s',
      },
    },
  });
  const checks = new Checks();
  const load = new Load(gateway, rps);
  load.start();
  await load.outages(first, { seconds, cooldownSeconds, checks });
  await load.stop();
  await report(gateway, load, checks);
  checks.check('the gateway stops cleanly', (await gateway.stop()) === 0);
  await Promise.all([first.kill(), second.kill()]);
  rmSync(folder, { recursive: true, force: true });
  checks.finish();
}

class Load {
  agent = new Agent({ connections: 2_048, headersTimeout: 0, bodyTimeout: 0 });
  callers = [];
  waiting = new Set();
  sent = 0;
  lagMs = 0;

  constructor(gateway, rps) {
    Object.assign(this, { gateway, rps });
  }

  start() {
    const startedAt = performance.now();
    let tickedAt = startedAt;
    this.timer = setInterval(() => {
      const now = performance.now();
      this.lagMs = Math.max(this.lagMs, now - tickedAt - 4);
      tickedAt = now;
      for (const due = ((now - startedAt) / 1000) * this.rps; this.sent < due; this.sent++) {
        const caller = this.call(this.sent % 2 === 1).finally(() => this.waiting.delete(caller));
        this.waiting.add(caller);
      }
    }, 4);
  }

  async stop() {
    clearInterval(this.timer);
    await Promise.all(this.waiting);
    await this.agent.destroy();
  }

  async call(stream) {
    const one = { startedAt: performance.now(), served: '', attempts: 0, fault: '' };
    try {
      const { statusCode, headers, body } = await request(`${this.gateway.url}/v1/chat/completions`, {
        method: 'POST',
        dispatcher: this.agent,
        headers: { authorization: `Bearer ${this.gateway.account.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'auto/meta/llama', stream, messages: [{ role: 'user', content: 'Count.' }] }),
      });
      const got = await body.text();
      const whole = got.includes(text) && (!stream || got.includes('"stream_end":"complete"'));
      if (statusCode !== 200 || !whole) one.fault = `${statusCode} ${got.slice(0, 300)}`;
      one.served = headers['x-router-provider'] ?? '';
      one.attempts = (/"providers_attempted":\[(.*?)\]/.exec(got)?.[1] ?? '').split(',').length;
    } catch (error) {
      one.fault = String(error);
    }
    one.endedAt = performance.now();
    this.callers.push(one);
  }

  /** Each is gone for a while, back but failing for a while, then well. */
  async outages(provider, { seconds, cooldownSeconds, checks }) {
    const partMs = (seconds * 1000) / 12;
    for (const how of ['killed', 'hanging', 'breaking']) {
      await pause(partMs);
      if (how === 'killed') await provider.kill();
      else await provider.behave(how);
      await this.untilOpen();
      if (how !== 'killed') await provider.behave(how);
      await pause(partMs);
      if (how !== 'killed') await this.oneProbe(provider, `while it is ${how}`, checks);
      // The next life of it begins by failing.
      if (how !== 'killed') await provider.kill();
      await provider.start('failing');
      await pause(Math.max(partMs, cooldownSeconds * 1200));
      await this.oneProbe(provider, `back after it was ${how}, still failing`, checks);
      const returnedAt = performance.now();
      await provider.behave('well');
      await pause((cooldownSeconds + 1.5) * 1000);
      const elsewhere = this.callers.filter((one) => one.startedAt > returnedAt && one.served === 'far');
      const backMs = elsewhere.reduce((last, { startedAt }) => Math.max(last, startedAt - returnedAt), 0);
      checks.check(
        `${how}: back ${backMs.toFixed(0)} ms after its return`,
        backMs <= cooldownSeconds * 1000 + 1000 + this.lagMs,
      );
    }
  }

  async untilOpen() {
    for (;;) {
      const { data } = await admin(this.gateway.url, 'GET', '/routes');
      if (data.find(({ provider }) => provider === 'near').breaker !== 'closed') break;
      await pause(20);
    }
    await pause(100);
  }

  async oneProbe(provider, when, checks) {
    const { calls, inFlightMax } = await provider.seen();
    checks.check(`${when}: ${calls} probes, ${inFlightMax} at once`, calls > 0 && inFlightMax === 1);
  }
}

async function report(gateway, { callers, lagMs }, checks) {
  const faults = callers.filter(({ fault }) => fault !== '');
  for (const { fault } of faults.slice(0, 5)) console.log(fault);
  const rescued = callers.filter(({ attempts }) => attempts > 1).length;
  const took = callers.map(({ startedAt, endedAt }) => endedAt - startedAt).sort((a, b) => a - b);
  const at = (share) => took[Math.floor(took.length * share)].toFixed(0);
  const servedBy = (name) => callers.filter(({ served }) => served === name).length;
  console.log(
    `${callers.length} requests: ${servedBy('near')} served by the first, ${servedBy('far')} by the second, ${rescued} of them after an ` +
      `attempt on the first; p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(0.9999)} ms; this process lagged ${lagMs.toFixed(0)} ms at most`,
  );
  console.log('gateway:', JSON.stringify(processFigures(gateway.pid)));
  checks.check(`no request failed (${faults.length})`, faults.length === 0);
  await pause(2_000);
  const { data } = await admin(gateway.url, 'GET', `/accounts/${gateway.account.id}/ledger?limit=100000`);
  const charges = data.filter(({ kind }) => kind === 'usage').map(({ amount_usd }) => amount_usd);
  const charged = (amount) => charges.filter((one) => one === amount).length;
  const [nearCharges, farCharges] = [charged('-0.000012'), charged('-0.0012')];
  checks.check(
    `one charge an answer, at the price of the provider that served (${nearCharges}, ${farCharges})`,
    nearCharges === servedBy('near') && farCharges === servedBy('far') && charges.length === nearCharges + farCharges,
  );
}

if (process.argv[2] === 'provider') provider(Number(process.argv[3]));
else await soak();
