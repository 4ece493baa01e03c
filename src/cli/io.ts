/** The terminal that a command runs in, and the two ways in which it can end badly. */

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

/** The server takes no more calls for a while. */
export class TooManyCalls extends CommandFailure {
  constructor(
    message: string,
    readonly retryAfterSeconds: number,
  ) {
    super(message);
  }
}
