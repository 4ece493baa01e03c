/** The type of a command, and what it runs with. */
import type { ParseArgsConfig } from 'node:util';
import type { AdminClient } from './admin-client.js';
import { type Io, UsageError } from './io.js';

export interface CommandContext {
  readonly io: Io;
  readonly positionals: readonly string[];
  /** The text options that were given, by name. */
  readonly options: Readonly<Record<string, string | undefined>>;
  /** The options that may be given several times, by name. */
  readonly repeated: Readonly<Record<string, readonly string[] | undefined>>;
  /** The options without a value that were given. */
  readonly flags: ReadonlySet<string>;
  /** Print the API's JSON instead of a table. */
  readonly json: boolean;
  /** Prints what the API has answered, or with `--json` the answer itself. */
  print(answer: unknown, text: string): void;
  /** Made on first use, because commands without a server need no address and no token. */
  client(): AdminClient;
  /** The command has printed what is wrong: exit code 1, or another. */
  markFailed(exitCode?: number): void;
}

export { flag, text } from './secrets.js';

export interface Command {
  /** The words that name it, e.g. `key create`. */
  readonly name: string;
  /** What follows the name, e.g. `[--account ID]`. */
  readonly parameters: string;
  readonly summary: string;
  readonly options?: NonNullable<ParseArgsConfig['options']>;
  readonly positionalsMax: number;
  run(context: CommandContext): Promise<void>;
}

export function required(value: string | undefined, what: string): string {
  if (value === undefined || value === '') throw new UsageError(`${what} is missing`);
  return value;
}
