import { expect, it } from 'vitest';
import { ManualClock } from '../../../tests/support/manual-clock.js';
import type { Logger } from '../../base/logger.js';
import type { CredentialSighting } from '../../storage/credential-types.js';
import { Sightings } from './sightings.js';

const logger = { warn: () => {} } as unknown as Logger;

function newSightings() {
  const clock = new ManualClock();
  const written: CredentialSighting[][] = [];
  const store = {
    isAway: false,
    async note(sightings: readonly CredentialSighting[]) {
      if (store.isAway) throw new Error('away');
      written.push([...sightings]);
    },
  };
  return { clock, store, written, sightings: new Sightings(store, clock, logger) };
}

const credential = (id: string, revision = 1) => ({ id, revision });
const refused = 'Incorrect API key provided. (HTTP 401)';

it('a refusal is written once, and again with what changes or after half a minute', async () => {
  const { clock, written, sightings } = newSightings();
  const noteAll = async (...refusals: (string | null)[]) => {
    for (const refusal of refusals) {
      clock.advance(100);
      sightings.note(credential('cred-1'), refusal);
      await sightings.write();
    }
    return written.splice(0).map((batch) => batch.map(({ status }) => status));
  };
  expect(await noteAll(refused, refused, refused)).toEqual([['failing']]);
  expect(await noteAll(null, null)).toEqual([['ok']]);
  expect(await noteAll(refused)).toEqual([['failing']]);
  clock.advance(30_000);
  expect(await noteAll(refused, refused)).toEqual([['failing']]);
});

it('thousands are written in parts, and again after the store was away', async () => {
  const { store, written, sightings } = newSightings();
  for (let n = 0; n < 1_200; n++) sightings.note(credential(`cred-${n}`), null);
  store.isAway = true;
  await sightings.write();
  sightings.forget('cred-0');
  store.isAway = false;
  await sightings.write();
  expect(written.map(({ length }) => length)).toEqual([500, 500, 199]);
  await sightings.write();
  expect(written).toHaveLength(3);
  await sightings.close();
});

it('what was noted of a replaced secret is not written after the new one', async () => {
  const { written, sightings } = newSightings();
  sightings.note(credential('cred-1'), refused);
  sightings.note(credential('cred-1', 2), null);
  await sightings.close();
  expect(written).toEqual([[expect.objectContaining({ revision: 2, status: 'ok' })]]);
});

it('what changes while it is written is written after it', async () => {
  const { written, sightings, store } = newSightings();
  const { note } = store;
  sightings.note(credential('cred-1'), refused);
  await sightings.write();
  store.note = async (part) => {
    store.note = note;
    sightings.note(credential('cred-1'), refused);
    await note(part);
  };
  sightings.note(credential('cred-1'), null);
  await sightings.write();
  await sightings.close();
  expect(written.map(([sighting]) => sighting?.status)).toEqual(['failing', 'ok', 'failing']);
});
