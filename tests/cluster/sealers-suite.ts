/** Sealers of a fleet are killed under load: every settled generation is in the log exactly once, and no published checkpoint is contradicted. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { newSigner } from '../../src/proof/note.js';
import { pause, scaled } from '../faults/fixture.js';
import type { YamlObject } from '../support/gateway-files.js';
import { proofOf, runCommand } from '../support/proofs.js';
import { inParallel, type Replicas } from '../support/replicas.js';
import { completion, json } from '../support/scripted-upstream.js';
import { SeededRandom } from '../support/seeded-random.js';

const kills = scaled(2, 100);
const waitMs = 120_000;
const folder = mkdtempSync(join(tmpdir(), 'lodestone-sealers-'));
const body = { model: 'acme/meta/llama-3.3-70b', messages: [{ role: 'user', content: 'Hi' }] };

/** Of the fleet: its members sign with one key. */
export function sealingConfig(): YamlObject {
  const key_file = join(folder, 'log-key');
  writeFileSync(key_file, newSigner('llm.example.com/log').text, { mode: 0o600 });
  return { proof: { origin: 'llm.example.com/log', key_file } };
}

let fleet: Replicas;

/** Each replica is killed as often as the others, so one that seals is among them, whichever that is. */
export function sealersSuite(shared: () => Replicas): void {
  describe('the log', () => {
    beforeAll(() => {
      fleet = shared();
      fleet.upstream.onRequest(() => json(completion({ content: 'Hi' })));
    });

    it(`${kills} times kill -9 of sealers: each generation is in the log once, and all checkpoints agree`, async () => {
      const { key } = await fleet.a.createAccount();
      const random = new SeededRandom(7);
      const answered: string[] = [];
      const checkpoints = new Set<string>();
      let over = false;
      const callers = fleet.all.map(async (_, turn) => {
        for (let at = turn; !over; at++) {
          const replica = fleet.all[at % fleet.all.length]!;
          const reply = await replica.chat(body, { key }).catch(() => null);
          if (reply?.status === 200) answered.push(reply.json.id);
          const seen = await replica.call('GET', '/log/checkpoint', undefined, { key: null }).catch(() => null);
          if (seen?.status === 200) checkpoints.add(seen.text);
          // Each answer and each checkpoint is looked up afterwards.
          await pause(scaled(250, 5));
        }
      });
      for (let kill = 0; kill < kills; kill++) {
        const replica = fleet.all[kill % fleet.all.length]!;
        await pause(500 + random.below(700));
        await replica.kill('SIGKILL');
        await replica.restart();
      }
      over = true;
      await Promise.all(callers);
      expect(answered.length).toBeGreaterThan(kills);
      for (const id of answered) await proofOf(fleet.a, id, { key });
      // What a killed process had not settled is settled by another, and then sealed.
      await expect
        .poll(async () => (await fleet.b.admin('GET', '/storage/check')).json.faults, { timeout: waitMs })
        .toEqual([]);
      const indices = new Set<number>();
      // A few at a time, and each by its status: an answer that is missing must not look like a leaf that is there twice.
      await inParallel(answered.length, 8, async (index) => {
        const { status, json: proof } = await fleet.b.admin('GET', `/generations/${answered[index]}/proof`);
        expect([status, proof.error]).toEqual([200, undefined]);
        indices.add(proof.leaf_index);
      });
      expect(indices.size).toBe(answered.length);
      for (const [n, text] of [...checkpoints].entries()) {
        const file = join(folder, `checkpoint-${n}`);
        writeFileSync(file, text);
        const { code, out } = await runCommand(['log', 'verify', '--since', file, fleet.b.url]);
        expect(code, out).toBe(0);
      }
    }, 3_600_000);
  });
}
