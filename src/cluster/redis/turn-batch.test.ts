import { expect, it } from 'vitest';
import { atEndOfTurn } from '../../base/turn.js';
import type { Keyed } from './shared-link.js';
import { TurnBatch } from './turn-batch.js';

const single = { isCluster: false, slotOf: () => 0 };
const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

it('what a request gives back leaves before its answer, so that who has the answer finds it everywhere', async () => {
  const sent: string[] = [];
  const noteOf = (what: string) => (asks: readonly Keyed[]) => sent.push(`${what}: ${asks.map(({ key }) => key)}`);
  const releases = new TurnBatch(single, noteOf('given back'), 'releases');
  const takes = new TurnBatch(single, noteOf('taken'));
  takes.add({ key: '1' });
  // The answer leaves once its record is in the journal.
  atEndOfTurn('records', () => sent.push('answered'));
  releases.add({ key: '2' });
  releases.add({ key: '3' });
  await turn();
  expect(sent).toEqual(['given back: 2,3', 'answered', 'taken: 1']);
});

it('sends one command for each slot of a cluster, in the order of the asks', async () => {
  const sent: string[][] = [];
  const cluster = { isCluster: true, slotOf: (key: string) => key.length };
  const batch = new TurnBatch(cluster, (asks) => sent.push(asks.map(({ key }) => key)));
  for (const key of ['a', 'bb', 'c', 'dd', 'eee']) batch.add({ key });
  await turn();
  expect(sent).toEqual([['a', 'c'], ['bb', 'dd'], ['eee']]);
});
