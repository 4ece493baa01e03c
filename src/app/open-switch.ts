/** Opens what clients of other systems bring along: names of models, of files and of the store, and tokens. */
import { BroughtTokens } from '../accounts/keys/brought-tokens.js';
import { type ListedName, NameBook } from '../accounts/names/name-book.js';
import type { Logger } from '../base/logger.js';
import type { HolderOptions } from '../catalogue/catalogue-holder.js';
import { NamesFault, readNameFiles } from '../catalogue/names-file.js';
import type { Counters } from '../cluster/ports.js';
import { ipRateLimited, peerOf } from '../limits/rate-limits.js';
import { nameFaults } from '../pipeline/check-name.js';
import type { Store } from '../storage/store.js';

type ReadNames = NonNullable<HolderOptions['readNames']>;

interface SwitchDeps {
  store: Store;
  /** Resolves when every process has read what is in the store. */
  announce: () => Promise<void>;
  /** Counts unknown tokens by address. */
  guesses: Counters;
  logger: Logger;
}

export function openSwitch({ store, announce, guesses, logger }: SwitchDeps) {
  const names = new NameBook(store.names, announce);
  const brought = new BroughtTokens({ store: store.brought, guesses, peerOf, refusalOf: ipRateLimited, announce });
  const readNames: ReadNames = (files, snapshot, isStart) => readFiles(files, { names, snapshot, isStart, logger });
  return { names, brought, readNames, load: async () => void (await Promise.all([names.load(), brought.load()])) };
}

interface Reading {
  names: NameBook;
  snapshot: Parameters<ReadNames>[1];
  isStart: boolean;
  logger: Logger;
}

/** What the catalogue does not have stops a start, where somebody looks. A catalogue that loses a model later still loads. */
async function readFiles(files: readonly string[], { names, snapshot, isStart, logger }: Reading) {
  const read = await readNameFiles(files);
  const listed = new Map<string, ListedName>();
  const lost: string[] = [];
  for (const [text, located] of read.names) {
    const { name, file } = located;
    for (const { path, reason, isUnknown } of nameFaults(name, snapshot)) {
      if (isUnknown && !isStart) lost.push(`${text}: ${path.join('.')}: ${reason}`);
      else located.faultAt(path, reason);
    }
    listed.set(text, { name, file });
  }
  const faults = read.faults();
  if (faults.length > 0) throw new NamesFault(faults);
  if (lost.length > 0) logger.warn({ names: lost }, 'names lead to what the catalogue does not have any more');
  return { use: () => names.useFiles(listed) };
}
