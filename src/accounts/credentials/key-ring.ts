/**
 * The operator's keys for sealed secrets, from files: the current one, and earlier ones while secrets are wrapped with them. A rotation
 * keeps the earlier key beside the current file until it is over, so it is looked for there too.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { keyBytes, type WrappingKey, wrappingKey } from '../../base/sealed-secret.js';

interface KeyFiles {
  readonly keyFile: string;
  readonly previousKeyFiles: readonly string[];
}

/** Behind the name of the current file: the key that a rotation replaces, by its id. */
const previousPart = '.previous-';
const othersMayRead = 0o077;

export class KeyRing {
  private keys = new Map<string, WrappingKey>();
  private currentKey: WrappingKey | null = null;
  /** What is wrong with the current file; null where nothing is. */
  private currentFault: string | null = 'it was not read yet';

  constructor(readonly files: KeyFiles) {}

  /** The key that new secrets are sealed with; null where there is none that can be used. */
  get current(): WrappingKey | null {
    return this.currentKey;
  }

  /** Why there is no current key, with what to do. */
  get fault(): string {
    return `${this.files.keyFile}: ${this.currentFault ?? 'nothing is wrong'}`;
  }

  byId(id: string): WrappingKey | undefined {
    return this.keys.get(id);
  }

  /** Reads the files again. Keys that were read before stay known, because secrets in memory may still be wrapped with them. */
  load(): void {
    const { keyFile, previousKeyFiles } = this.files;
    const read = readKeyFile(keyFile);
    this.currentKey = typeof read === 'string' ? null : read;
    this.currentFault = typeof read === 'string' ? read : null;
    for (const file of [...previousKeyFiles, ...keptKeyFiles(keyFile)]) {
      const key = readKeyFile(file);
      if (typeof key !== 'string') this.keys.set(key.id, key);
    }
    if (this.currentKey) this.keys.set(this.currentKey.id, this.currentKey);
  }
}

/** The key, or what is wrong with the file and what to do. */
export function readKeyFile(file: string): WrappingKey | string {
  let text: string;
  try {
    const { mode } = statSync(file);
    if ((mode & othersMayRead) !== 0) return `other users may read it. Run: chmod 600 ${file}`;
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
  }
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== keyBytes || bytes.toString('base64') !== text)
    return `it must hold ${keyBytes} bytes in base64 on one line, as \`openssl rand -base64 ${keyBytes}\` writes them`;
  return wrappingKey(bytes);
}

/** Earlier keys that a rotation keeps beside the current file. */
export function keptKeyFiles(keyFile: string): string[] {
  const start = `${basename(keyFile)}${previousPart}`;
  try {
    return readdirSync(dirname(keyFile))
      .filter((name) => name.startsWith(start) && !name.endsWith('.new'))
      .map((name) => join(dirname(keyFile), name));
  } catch {
    return [];
  }
}

/** Makes a key file that only this user may read, unless there is one. */
export function makeKeyFile(file: string): void {
  try {
    writeDurably(file, randomBytes(keyBytes).toString('base64'), 'wx');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Puts a new key in the place of the current one, which is kept beside it first. Killed in between, nothing is lost. */
export function replaceKeyFile(file: string, current: WrappingKey): void {
  const kept = `${file}${previousPart}${current.id}`;
  for (const [target, text] of [
    [kept, current.bytes.toString('base64')],
    [file, randomBytes(keyBytes).toString('base64')],
  ] as const) {
    writeDurably(`${target}.new`, text, 'w');
    renameSync(`${target}.new`, target);
    syncDirectory(dirname(file));
  }
}

/** Removes the earlier keys that a rotation kept. */
export function dropKeptKeys(file: string): void {
  for (const kept of keptKeyFiles(file)) rmSync(kept, { force: true });
  syncDirectory(dirname(file));
}

function writeDurably(file: string, text: string, flag: 'w' | 'wx'): void {
  // A file of an interrupted write may have another mode.
  if (flag === 'w') rmSync(file, { force: true });
  const descriptor = openSync(file, 'wx', 0o600);
  try {
    writeSync(descriptor, `${text}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
