/** Replaces the key that signs the log, also while gateways run. The old one signs the checkpoint of the change too. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../base/time.js';
import { checkpointText } from '../proof/checkpoint.js';
import { newSigner, signNote } from '../proof/note.js';
import type { LogStore, Sealing } from '../storage/log-types.js';
import type { LogKeyFile } from './log-key.js';

export interface RotatedKey {
  readonly verifierKey: string;
  readonly previous: string;
}

/** The key could not be replaced; the message says why. */
export class RotationRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RotationRefused';
  }
}

interface Rotation {
  readonly store: LogStore;
  readonly keyFile: LogKeyFile;
  readonly clock: Pick<Clock, 'now'>;
}

/** A sealing takes milliseconds. */
const attemptsMax = 100;
const attemptMs = 100;

export async function rotateKey({ store, keyFile, clock }: Rotation): Promise<RotatedKey> {
  const old = keyFile.read();
  if (typeof old === 'string') throw new RotationRefused(`The key file ${keyFile.path} is ${old}.`);
  const { name: origin } = old.verifier;
  const next = newSigner(origin);
  const exchange = async ({ state, addKey, begin }: Sealing): Promise<RotatedKey> => {
    const { salt, size, root } = state;
    if (state.keys.at(-1)?.verifierKey !== old.verifier.text || salt === null || state.origin !== origin)
      throw new RotationRefused(`The key in ${keyFile.path} is not the one that the log is signed with.`);
    // In a file before the store names it: a process that dies in between leaves the next one a key to go on with.
    keyFile.keepNext(next);
    await addKey(next.verifier.text, clock.now());
    await begin({ origin, salt, checkpoint: signNote(checkpointText({ origin, size, root }), [next, old]) });
    return { verifierKey: next.verifier.text, previous: old.verifier.text };
  };
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const rotated = await store.seal(exchange);
    if (rotated) {
      keyFile.useNext();
      return rotated;
    }
    await pause(attemptMs);
  }
  throw new RotationRefused('Another process holds the lock of the log. Try again.');
}
