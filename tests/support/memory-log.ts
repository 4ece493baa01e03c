/** The log part of the memory store: a log that has not begun. */
import { emptyRoot } from '../../src/proof/merkle.js';
import type { LogStore } from '../../src/storage/log-types.js';

const state = { origin: null, salt: null, size: 0, root: emptyRoot, checkpoint: null, keys: [] };

export const memoryLog: LogStore = {
  join: () => {},
  state: async () => state,
  status: async () => ({ ...state, oldestUnsealedMs: null, active: false, oldLeft: false, setAside: false }),
  seal: async () => null,
  setActive: async () => {},
  queueOld: async () => {},
  retrySetAside: async () => {},
  tile: async () => null,
  leaf: async () => null,
  read: (work) => work(state, async () => Buffer.alloc(0)),
};
