/** The file of the key that signs the log. It is made once; a file that is lost later is never replaced by another key. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { newSigner, readSignerKey, type SignerKey, signerOf } from '../proof/note.js';

const fileMode = 0o600;

export class LogKeyFile {
  constructor(
    readonly path: string,
    /** False where the operator names the file: then its absence is a fault. */
    readonly mayCreate: boolean,
  ) {}

  read(): SignerKey | 'missing' | 'invalid' {
    return readKey(this.path);
  }

  /** Makes the first key. Where another process was faster, its key is the one. */
  create(origin: string): SignerKey | 'missing' | 'invalid' {
    try {
      write(this.path, newSigner(origin).text, 'link');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    return this.read();
  }

  /** Gives the key of a log without leaves another name. */
  rename(signer: SignerKey, origin: string): SignerKey {
    const renamed = signerOf(origin, signer.seed);
    this.keepNext(renamed);
    this.useNext();
    return renamed;
  }

  /** Puts a key beside the one in use, before the store knows of it. */
  keepNext(signer: SignerKey): void {
    write(this.nextPath, signer.text, 'rename');
  }

  /** The key that was put beside; the process that did so may have died since. */
  readNext(): SignerKey | 'missing' | 'invalid' {
    return readKey(this.nextPath);
  }

  useNext(): void {
    try {
      renameSync(this.nextPath, this.path);
      syncFolder(dirname(this.path));
    } catch (error) {
      // Another process of this machine has done it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  private get nextPath(): string {
    return `${this.path}.next`;
  }
}

function readKey(path: string): SignerKey | 'missing' | 'invalid' {
  try {
    return readSignerKey(readFileSync(path, 'utf8').trim()) ?? 'invalid';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'missing' : 'invalid';
  }
}

/** The file appears whole or not at all, so no process reads a part of a key. `link` fails where it exists, `rename` replaces it. */
function write(path: string, text: string, how: 'link' | 'rename'): void {
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = openSync(temporary, 'wx', fileMode);
  try {
    try {
      fchmodSync(file, fileMode);
      writeSync(file, `${text}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (how === 'link') linkSync(temporary, path);
    else renameSync(temporary, path);
    syncFolder(dirname(path));
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** The name of a new file is lost with the power until its folder is written. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
