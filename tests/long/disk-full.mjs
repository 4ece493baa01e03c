/**
 * The disk fills up under load; the gateway is stopped or killed, the disk is freed, the gateway is started again: every answer that
 * was delivered is billed once, and nothing is forwarded that could not be.
 *
 *   node tests/long/disk-full.mjs --rounds 20
 */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as run from './restarted-gateway.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } });
const rounds = Number(values.rounds);
const callerCount = 12;

const disk = mkdtempSync(join(tmpdir(), 'lodestone-long-disk-'));
const filler = join(disk, 'filler');
try {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=192m,mode=0755', 'tmpfs', disk], { stdio: 'ignore' });
} catch {
  rmdirSync(disk);
  console.log('Skipped: this process may not mount a disk. Run it as root on Linux.');
  process.exit(0);
}
process.once('exit', () => {
  execFileSync('umount', ['-l', disk]);
  rmdirSync(disk);
});

function fill() {
  const fd = openSync(filler, 'a');
  for (const size of [1 << 20, 1 << 16, 1 << 12, 1 << 8, 1]) {
    try {
      while (writeSync(fd, Buffer.alloc(size, 1)) === size);
    } catch {
      // That was the last of them.
    }
  }
  closeSync(fd);
}

const tokens = [9, 5];
const provider = await run.startProvider((_plan, { body, res }) => {
  if (!body.stream) {
    setTimeout(() => run.wholeAnswer(res, 'One two three.', tokens), 5);
    return;
  }
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write(run.textFrame(' one'));
  setTimeout(() => res.end(run.textFrame(' two') + run.streamEnd(tokens)), 30);
});
const gateway = new run.RestartedGateway({
  addresses: { acme: provider.url },
  dataDir: join(disk, 'data'),
  config: { server: { host: '127.0.0.1', port: 0, drain: '5s' } },
});
await gateway.start();
const account = await gateway.createAccount();
/** Ids of whole answers, and of streams that broke off after some text. */
const delivered = new Set();
const begun = new Set();
let refused = 0;
let unready = 0;

async function load(stopped, agent) {
  for (let i = 0; !stopped(); i++) {
    const seen = await run.send(gateway, agent, account, { model: run.pin, plan: { i }, stream: i % 2 === 0 });
    if (seen.status === 200 && seen.whole) delivered.add(seen.id);
    else if (seen.text !== '') begun.add(seen.id);
    else if (seen.status === 503) refused++;
    if (seen.status !== 200) await run.pause(10);
  }
}

for (let round = 0; round < rounds; round++) {
  let stop = false;
  const agent = run.newAgent();
  const before = delivered.size;
  const callers = Array.from({ length: callerCount }, () => load(() => stop, agent));
  while (delivered.size < before + 100) await run.pause(5);
  fill();
  await run.pause(500 + Math.random() * 2_500);
  const ready = await fetch(`${gateway.url}/readyz`);
  if (ready.status === 503) unready++;
  const signal = round % 2 === 0 ? 'SIGTERM' : 'SIGKILL';
  const { code } = await gateway.kill(signal);
  stop = true;
  await Promise.all(callers);
  await agent.destroy();
  rmSync(filler, { force: true });
  await gateway.start();
  console.log(`round ${round + 1}: ${signal}, exit code ${code}, ${delivered.size} delivered, ${refused} refused`);
}
const { costs, doubles, isBalanced } = await gateway.books(account);
const checks = new run.Checks();
const cost = run.costOf('acme', ...tokens);
const missing = [...delivered].filter((id) => !costs.has(id));
const wrong = [...delivered].filter((id) => costs.has(id) && costs.get(id) !== cost);
const unbilled = [...begun].filter((id) => !((costs.get(id) ?? 0n) > 0n));
checks.check(
  `${delivered.size} whole answers, ${missing.length} unbilled, ${wrong.length} at another price`,
  missing.length + wrong.length === 0,
);
checks.check(
  `${begun.size} streams that broke off after some text, ${unbilled.length} unbilled`,
  unbilled.length === 0,
);
checks.check(`${doubles} billed twice`, doubles === 0);
checks.check(
  `${refused} requests refused; /readyz was 503 in ${unready} of ${rounds} rounds`,
  refused > 0 && unready > 0,
);
checks.check('the balance is the sum of the ledger', isBalanced);
checks.finish();
await gateway.remove();
provider.stop();
