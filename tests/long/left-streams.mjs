/**
 * Callers leave their streams, and the gateway is killed at a random moment of the 800 ms after the upstream has seen the abort:
 * every stream whose text somebody has received is billed once.
 *
 *   node tests/long/left-streams.mjs --rounds 200
 */
import { parseArgs } from 'node:util';
import * as run from './restarted-gateway.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '200' } } });
const rounds = Number(values.rounds);
const callersOfRound = 3;

let aborted = 0;
/** Text without end and without usage. */
const provider = await run.startProvider((_plan, { res }) => {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const timer = setInterval(() => res.write(run.textFrame(' some more words')), 10);
  res.once('close', () => {
    clearInterval(timer);
    aborted++;
  });
});
const gateway = new run.RestartedGateway({ addresses: { acme: provider.url } });
await gateway.start();
const account = await gateway.createAccount();
const left = [];
for (let round = 0; round < rounds; round++) {
  const agent = run.newAgent();
  aborted = 0;
  const seen = await Promise.all(
    Array.from({ length: callersOfRound }, () => {
      const plan = { round };
      return run.send(gateway, agent, account, { model: run.pin, plan, stream: true, leaveAfter: 1 + (round % 20) });
    }),
  );
  while (aborted < callersOfRound) await run.pause(1);
  await run.pause(Math.random() * 800);
  await gateway.kill('SIGKILL');
  await agent.destroy();
  left.push(...seen);
  await gateway.start();
  if (round % 20 === 19) console.log(`${round + 1} rounds`);
}
const { costs, doubles, isBalanced } = await gateway.books(account);
const checks = new run.Checks();
const received = left.filter(({ text }) => text !== '');
const unbilled = received.filter(({ id }) => !((costs.get(id) ?? 0n) > 0n));
/** Nothing is billed beyond the prompt, estimated from its bytes, and what the provider can have sent. */
const dear = received.filter(({ id }) => (costs.get(id) ?? 0n) > run.costOf('acme', 100, 4_000));
checks.check(
  `${rounds} rounds, ${received.length} streams left after some text, ${unbilled.length} unbilled`,
  unbilled.length === 0,
);
checks.check(
  `${doubles} billed twice, ${costs.size - received.length} billed without a stream`,
  doubles === 0 && costs.size === left.length,
);
checks.check(`${dear.length} billed for more than can have been sent`, dear.length === 0);
checks.check('the balance is the sum of the ledger', isBalanced);
checks.finish();
await gateway.remove();
provider.stop();
