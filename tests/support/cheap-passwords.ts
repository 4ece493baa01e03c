/**
 * Hashes passwords at a small part of their cost in the processes of the tests. A hash of full cost takes almost a fifth of a second of processor
 * time, and the suites make hundreds. `atFullCost` is for the tests of the cost itself.
 */
import crypto, { type BinaryLike, type ScryptOptions } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

type Scrypt = (password: BinaryLike, salt: BinaryLike, length: number, options: ScryptOptions, done: Done) => void;
type Done = (error: Error | null, key: Buffer) => void;
type CheapScrypt = Scrypt & { original: Scrypt };

const cheapN = 256;

/** The cost that each hash since the start of this process was to have in production, in the order in which they were made. */
export const hashCosts: number[] = [];

/** To be called before each test file; files may share a process, so a second call changes nothing. */
export function hashCheaply(): void {
  if ('original' in crypto.scrypt) return;
  const original = crypto.scrypt as Scrypt;
  const cheap: Scrypt = (password, salt, length, options, done) => {
    hashCosts.push(Number(options.N));
    original(password, salt, length, { ...options, N: cheapN }, done);
  };
  replaceScrypt(Object.assign(cheap, { original }));
}

/** Runs `act` while passwords are hashed as in production. */
export async function atFullCost<T>(act: () => Promise<T>): Promise<T> {
  const cheap = crypto.scrypt as unknown as CheapScrypt;
  replaceScrypt(cheap.original);
  try {
    return await act();
  } finally {
    replaceScrypt(cheap);
  }
}

function replaceScrypt(scrypt: Scrypt): void {
  Object.assign(crypto, { scrypt });
  // Modules that import { scrypt } see the new one from here on.
  syncBuiltinESMExports();
}
