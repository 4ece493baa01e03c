/** The terminal that a command runs in, and the two ways in which it can end badly. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export interface Io {
  out(line: string): void;
  err(line: string): void;
  /** All of standard input; absent where there is none. */
  readonly stdin?: () => string;
  /** Shows a question and reads a line; absent where nobody sits at a terminal. */
  readonly ask?: (question: string) => Promise<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** The command line is not valid: exit code 2. */
export class UsageError extends Error {}

/** The command failed: exit code 1. */
export class CommandFailure extends Error {}

/** A file that was named cannot be read: why, and what to do. */
export function unreadable(file: string, error: unknown): CommandFailure {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return new CommandFailure(`There is no file ${file}. Check its path.`);
  if (code === 'EISDIR') return new CommandFailure(`${file} is a folder. Name a file in it.`);
  if (code === 'EACCES' || code === 'EPERM')
    return new CommandFailure(
      `${file} may not be read by this user. Change its permissions, or run the command as its owner.`,
    );
  return new CommandFailure(`${file} cannot be read: ${message}.`);
}

/** The bytes of a file that the command line names. */
export function readNamed(file: string, { cwd }: Pick<Io, 'cwd'>): Buffer {
  try {
    return readFileSync(resolve(cwd, file));
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** Whether somebody at the terminal agrees. */
export async function agrees({ ask }: Io, question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await ask?.(`${question} [y/N] `))?.trim() ?? '');
}

/** The server takes no more calls for a while. */
export class TooManyCalls extends CommandFailure {
  constructor(
    message: string,
    readonly retryAfterSeconds: number,
  ) {
    super(message);
  }
}
