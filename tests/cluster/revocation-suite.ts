/** A deleted key fails on every replica with the next request, whichever replica deleted it and however busy both are. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, scaled } from '../faults/fixture.js';
import type { TestAccount } from '../support/client.js';
import { DashboardClient } from '../support/dashboard-client.js';
import type { SpawnedGateway } from '../support/gateway.js';
import { BurstCaller, inParallel, LeanCaller, type Replicas } from '../support/replicas.js';

/** Each of the four ways to delete one is taken. */
const keyCount = scaled(4, 200);
const requestsAfter = 100;
const password = 'correct horse battery';

let fleet: Replicas;
let callers: LeanCaller[];
let bursts: BurstCaller[];
let members = 0;
interface Member {
  accountId: string;
  /** Signed in once; the session holds at every replica. */
  dashboards: DashboardClient[];
}

async function signUp(): Promise<Member> {
  const first = new DashboardClient(fleet.a.url);
  const { status, json } = await first.call('POST', 'sign-up', {
    ...{ email: `owner-${++members}@example.test`, password },
  });
  expect(status).toBe(201);
  const accountId = json.account.id as string;
  await fleet.a.admin('POST', `/accounts/${accountId}/credits`, { amount_usd: '100.00' });
  const second = new DashboardClient(fleet.b.url);
  for (const [name, value] of first.cookies) second.cookies.set(name, value);
  return { accountId, dashboards: [first, second] };
}

type Key = Pick<TestAccount, 'key' | 'keyId'>;

async function createKeys(count: number, { accountId }: Member): Promise<Key[]> {
  const keys: Key[] = [];
  await inParallel(count, 8, async (index) => {
    const { json } = await fleet.all[index % 2]!.admin('POST', `/accounts/${accountId}/keys`, { name: `k${index}` });
    keys.push({ key: json.token as string, keyId: json.id as string });
  });
  return keys;
}

/** Requests with one key on both replicas, one after the other on each, until it is told that the key is dead. */
class Traffic {
  served = 0;
  refused = 0;
  /** Answers of success to requests that were sent after the deletion's acknowledgement. */
  tooLate = 0;
  private deletedAt = Number.POSITIVE_INFINITY;
  private readonly lanes: Promise<void>[] = [];

  constructor(private readonly key: string) {
    for (const caller of callers) this.lanes.push(this.run(caller));
  }

  deleted(): Promise<unknown> {
    this.deletedAt = performance.now();
    return Promise.all(this.lanes);
  }

  private async run(caller: LeanCaller): Promise<void> {
    for (;;) {
      const sentAt = performance.now();
      const { status } = await caller.chat(this.key, ask());
      if (status === 200) this.served++;
      else this.refused++;
      if (sentAt <= this.deletedAt) continue;
      if (status === 200) this.tooLate++;
      return;
    }
  }
}

export function revocationSuite(shared: () => Replicas): void {
  describe('a key that is deleted while both replicas serve it', () => {
    beforeAll(async () => {
      fleet = shared();
      fleet.upstream.onRequest(() => undefined);
      callers = fleet.all.map(({ url }) => new LeanCaller(url));
      bursts = await Promise.all(fleet.all.map(({ url }) => BurstCaller.open(url)));
    });
    afterAll(async () => {
      for (const burst of bursts) burst.close();
      await Promise.all(callers.map((caller) => caller.close()));
    });

    it(`none of ${keyCount * requestsAfter} requests sent after the acknowledgements succeeds, on either replica, and each is a 401 api_key_not_registered`, async () => {
      const member = await signUp();
      const keys = await createKeys(keyCount, member);
      const seen = { served: 0, tooLate: 0, after: 0, wrong: [] as string[], ackMs: [] as number[] };
      for (const [index, key] of keys.entries()) {
        const traffic = new Traffic(key.key);
        while (traffic.served < 6) await new Promise((resolve) => setTimeout(resolve, 1));
        const startedAt = performance.now();
        expect(await deletedThrough(fleet.all[index % 2]!, member, key.keyId, index)).toBe(204);
        seen.ackMs.push(performance.now() - startedAt);
        const over = traffic.deleted();
        const answers = await Promise.all(bursts.map((burst) => burst.chats(key.key, ask(), requestsAfter / 2)));
        for (const answer of answers.flat()) {
          seen.after++;
          if (!answer.startsWith('HTTP/1.1 401 ') || !answer.includes('"api_key_not_registered"'))
            seen.wrong.push(answer);
        }
        await over;
        seen.served += traffic.served;
        seen.tooLate += traffic.tooLate;
      }
      seen.ackMs.sort((x, y) => x - y);
      console.log(
        `revocation: ${keyCount} keys, ${seen.served} served before, ${seen.after} sent after, ${seen.wrong.length} not refused; ` +
          `deletion acknowledged in ${seen.ackMs[keyCount / 2]!.toFixed(1)} ms (median), ${seen.ackMs.at(-1)!.toFixed(1)} ms (longest)`,
      );
      expect(seen.wrong).toEqual([]);
      expect(seen.tooLate).toBe(0);
      expect(seen.after).toBe(keyCount * requestsAfter);
    }, 300_000);

    /** By turns: A's admin API, B's, A's dashboard, B's. */
    async function deletedThrough(gateway: SpawnedGateway, member: Member, keyId: string, index: number) {
      if (index % 4 < 2) return (await gateway.admin('DELETE', `/accounts/${member.accountId}/keys/${keyId}`)).status;
      return (await member.dashboards[index % 2]!.call('DELETE', `keys/${keyId}`)).status;
    }
  });
}
