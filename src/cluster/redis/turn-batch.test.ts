import { expect, it } from 'vitest';
import { atEndOfTurn } from '../../base/turn.js';
import { TurnBatch } from './turn-batch.js';

const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));

it('what a request gives back leaves before its answer, so that who has the answer finds it everywhere', async () => {
  const sent: string[] = [];
  const releases = new TurnBatch<number>((asks) => sent.push(`given back: ${asks}`), 'releases');
  const takes = new TurnBatch<number>((asks) => sent.push(`taken: ${asks}`));
  takes.add(1);
  // The answer leaves once its record is in the journal.
  atEndOfTurn('records', () => sent.push('answered'));
  releases.add(2);
  releases.add(3);
  await turn();
  expect(sent).toEqual(['given back: 2,3', 'answered', 'taken: 1']);
});
