import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { checkpointText } from '../proof/checkpoint.js';
import { newSigner, signNote } from '../proof/note.js';
import type { LogState } from '../storage/log-types.js';
import { PublishedCheckpoint } from './published-checkpoint.js';

const folder = mkdtempSync(join(tmpdir(), 'lodestone-published-'));
afterAll(() => rmSync(folder, { recursive: true }));
const signer = newSigner('log.test/log');
const rootOf = (size: number) => Buffer.alloc(32, size);
const checkpointOf = (size: number) =>
  signNote(checkpointText({ origin: 'log.test/log', size, root: rootOf(size) }), [signer]);
const stateOf = (size: number) => ({ size, root: rootOf(size) }) as LogState;
const noTiles = async () => {
  throw new Error('no tile is needed');
};

it('a checkpoint that another process publishes after the state was read does not contradict that state', async () => {
  const path = join(folder, 'newer');
  const [here, there] = [new PublishedCheckpoint(path), new PublishedCheckpoint(path)];
  await there.remember(checkpointOf(4));
  await here.refresh();
  const state = stateOf(4);
  await there.remember(checkpointOf(9));
  expect(await here.compare(state, noTiles)).toBe(null);
  // The next comparison knows of it.
  await here.refresh();
  expect(await here.compare(state, noTiles)).toBe('store_behind');
  expect(await here.compare(stateOf(9), noTiles)).toBe(null);
});

it('keeps the newest checkpoint across a start, and another root of the same size is a fork', async () => {
  const path = join(folder, 'kept');
  const before = new PublishedCheckpoint(path);
  await before.remember(checkpointOf(7));
  await before.remember(checkpointOf(5));
  const after = new PublishedCheckpoint(path);
  expect(after.size).toBe(7);
  expect(await after.compare({ size: 7, root: rootOf(8) } as LogState, noTiles)).toBe('forked');
});

it('goes on where the folder cannot be written', async () => {
  const nowhere = new PublishedCheckpoint(join(folder, 'missing', 'checkpoint'));
  await nowhere.remember(checkpointOf(3));
  expect(nowhere.size).toBe(3);
});
