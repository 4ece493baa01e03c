/** The first failing check answers. The test breaks every two checks of a request that can fail together, at every client API. */
import { setMaxListeners } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { answerTo } from '../../doors/task-gateway.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { ManualClock } from '../../support/manual-clock.js';
import { full } from '../../support/scaled.js';
import { json, type Script, type ScriptedUpstream, startUpstream } from '../../support/scripted-upstream.js';
import { startWithoutSnapshot, type WaitingGateway } from '../no-snapshot.js';
import {
  Accounts,
  type Attempt,
  behindProxy,
  type Check,
  chatDoor,
  type DoorShape,
  pairsOf,
  send,
  spoiledBy,
  useUpAddress,
} from './attempt.js';
import { autoChecks, catalogue, checksAt, modelStates, otherDoors, pinChecks, together } from './chat-checks.js';

const leaving = new AbortController();
setMaxListeners(0, leaving.signal);
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let accounts: Accounts;

const inFlight = [{ role: 'user', content: 'Stay in flight.' }];
const hang: Script = ({ closed }) => closed;

/** Forgets the calls. The upstream embeds and ranks, and leaves the chats that are to stay in flight without an answer. */
function resetUpstream(): void {
  upstream.reset();
  upstream.onRequest(({ path, json: asked, body }) => {
    if (body.includes(inFlight[0]!.content)) return hang;
    return /embeddings|rerank/.test(path) ? json(answerTo(asked as object)) : undefined;
  });
}

async function keepInFlight(key: string): Promise<void> {
  const before = upstream.calls.length;
  const asked = { model: 'acme/meta/pin', messages: inFlight };
  gateway.chat(asked, { key, signal: leaving.signal }).catch(() => null);
  await upstream.waitForCalls(before + 1);
}

beforeAll(async () => {
  upstream = await startUpstream();
  // No window ends while this clock stands still.
  gateway = await startGateway({ catalogue: catalogue(upstream.url), config: behindProxy, clock: new ManualClock() });
  accounts = new Accounts(gateway, 'acme/meta/pin', keepInFlight);
  await useUpAddress(gateway.url);
  for (const { id, state } of modelStates) {
    const reply = await gateway.admin('PUT', `/models/${id}/availability`, { state });
    expect(reply.status).toBe(200);
  }
});
beforeEach(resetUpstream);
afterAll(async () => {
  leaving.abort();
  await gateway?.stop();
  await upstream?.stop();
});

const passes: [name: string, door: DoorShape, id: Attempt['id'], checks: Check[]][] = [
  ['a chat with a pin', chatDoor, 'pin', pinChecks],
  ['a chat with an auto id', chatDoor, 'auto', autoChecks],
  ...otherDoors.map(([door, inapplicable]): (typeof passes)[number] => [
    door.path,
    door,
    'auto',
    checksAt(inapplicable),
  ]),
];

describe.each(passes)('the order of checks on %s', (_, door, id, checks) => {
  const answered = (broken: readonly Check[]) => send(gateway.url, accounts, spoiledBy(broken, { id, door }));
  // What comes before the body is read knows nothing of the door, so that chats stand for all of them. One pipeline orders the later
  // checks of every door: an ordinary run tries a third of their pairs, LODESTONE_FULL=1 all.
  const pairs = pairsOf(checks, together).filter(
    ({ first }, at) => door === chatDoor || (first.number >= 8 && (full || at % 3 === 0)),
  );

  it('a request with no flaw is served', async () => {
    expect((await answered([])).status).toBe(200);
    expect(upstream.calls).toHaveLength(1);
  });

  it.each(checks)('$number $name answers alone, and before every later check', async (only) => {
    const later = pairs.filter(({ first }) => first === only);
    const broken = [[only], ...later.map(({ first, second }) => [first, second])];
    const found: string[] = [];
    for (const flaws of broken) {
      await accounts.for(spoiledBy(flaws));
      resetUpstream();
      const { status, code } = await answered(flaws);
      const after = flaws[1] ? ` with ${flaws[1].number} ${flaws[1].name}` : '';
      if (status !== only.status || code !== only.code) found.push(`${status} ${code}${after}`);
      if (upstream.calls.length > 0) found.push(`called a provider${after}`);
    }
    expect(found).toEqual([]);
  });
});

describe('no routing snapshot yet is service_unavailable', () => {
  let waiting: WaitingGateway;
  let known: Accounts;

  beforeAll(async () => {
    waiting = await startWithoutSnapshot({ config: behindProxy, clock: new ManualClock() });
    known = new Accounts(waiting.client, null);
    await useUpAddress(waiting.url);
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
