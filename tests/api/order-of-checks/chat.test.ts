/** The first failing check answers. The test breaks every two checks of a chat that can fail together. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { ManualClock } from '../../support/manual-clock.js';
import { type ScriptedUpstream, startUpstream } from '../../support/scripted-upstream.js';
import { startWithoutSnapshot, type WaitingGateway } from '../no-snapshot.js';
import { Accounts, type Attempt, behindProxy, type Check, pairsOf, send, spoiledBy, useUpAddress } from './attempt.js';
import { autoChecks, catalogue, modelNames, pinChecks, together } from './chat-checks.js';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let accounts: Accounts;

beforeAll(async () => {
  upstream = await startUpstream();
  // No window ends while this clock stands still.
  gateway = await startGateway({ catalogue: catalogue(upstream.url), config: behindProxy, clock: new ManualClock() });
  accounts = new Accounts(gateway, 'acme/meta/pin');
  await useUpAddress(gateway);
  for (const name of modelNames) {
    const state = name.includes('off') ? 'disabled' : name.includes('soft') ? 'soft_disabled' : 'available';
    const reply = await gateway.admin('PUT', `/models/meta/${name}/availability`, { state });
    expect(reply.status).toBe(200);
  }
});
beforeEach(() => upstream.reset());
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const kinds: [Attempt['id'], Check[]][] = [
  ['pin', pinChecks],
  ['auto', autoChecks],
];

describe.each(kinds)('the order of checks on a chat with an id of the kind %s', (id, checks) => {
  const answered = (broken: readonly Check[]) => send(gateway.url, accounts, spoiledBy(broken, { id }));

  it('a request with no flaw is served', async () => {
    expect((await answered([])).status).toBe(200);
    expect(upstream.calls).toHaveLength(1);
  });

  it.each(checks)('$number $name alone', async (only) => {
    await accounts.for(spoiledBy([only]));
    upstream.reset();
    expect(await answered([only])).toEqual({ status: only.status, code: only.code });
    expect(upstream.calls).toHaveLength(0);
  });

  it.each(pairsOf(checks, together))('$title', async ({ first, second }) => {
    await accounts.for(spoiledBy([first, second]));
    upstream.reset();
    expect(await answered([first, second])).toEqual({ status: first.status, code: first.code });
    expect(upstream.calls).toHaveLength(0);
  });
});

describe('no routing snapshot yet is service_unavailable', () => {
  let waiting: WaitingGateway;
  let known: Accounts;

  beforeAll(async () => {
    waiting = await startWithoutSnapshot({ config: behindProxy, clock: new ManualClock() });
    known = new Accounts(waiting.client, null);
    await useUpAddress(waiting.client);
  });
  afterAll(() => waiting.stop());

  it.each(pinChecks.filter(({ number }) => number < 10))('$number $name comes before it', async (earlier) => {
    const { status, code } = earlier;
    expect(await send(waiting.url, known, spoiledBy([earlier]))).toEqual({ status, code });
  });

  // 13 cannot be: nobody has used tokens before there was a snapshot.
  it.each(autoChecks.filter(({ number }) => number > 10 && number !== 13))(
    'it comes before $number $name',
    async (later) => {
      const unavailable = { status: 503, code: 'service_unavailable' };
      expect(await send(waiting.url, known, spoiledBy([later], { id: 'auto' }))).toEqual(unavailable);
    },
  );
});
