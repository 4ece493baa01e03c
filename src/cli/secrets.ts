/**
 * Reads the secrets of a command from standard input, a file or the environment. An argument works too, with a warning, because every
 * user of the machine can read the arguments of a process.
 */
import { CommandFailure, type Io, readNamed, UsageError } from './io.js';

/** Options with a value, and without one, for `parseArgs`. */
export const text = { type: 'string' } as const;
export const flag = { type: 'boolean' } as const;

/** The options of a secret. */
export function secretOptions<Name extends string>(name: Name) {
  return { [name]: text, [`${name}-stdin`]: flag, [`${name}-file`]: text } as Record<
    Name | `${Name}-file`,
    typeof text
  > &
    Record<`${Name}-stdin`, typeof flag>;
}

interface GivenOptions {
  readonly options: Readonly<Record<string, string | undefined>>;
  readonly flags: ReadonlySet<string>;
  readonly io: Io;
}

export interface Secret {
  readonly value: string;
  /** Where the secret comes from, for the message when it is refused. */
  readonly source: string;
}

/** `variable` is the environment variable for the secret. undefined where no secret was given. */
export function readSecret(name: string, variable: string, { options, flags, io }: GivenOptions): Secret | undefined {
  const [argument, file] = [options[name], options[`${name}-file`]];
  const fromStdin = flags.has(`${name}-stdin`) || argument === '-';
  const fromArgument = argument !== undefined && argument !== '-';
  if ([fromStdin, fromArgument, file !== undefined].filter(Boolean).length > 1) {
    throw new UsageError(`Give only one of --${name}, --${name}-stdin and --${name}-file.`);
  }
  if (fromStdin) return { value: firstLineOf(io.stdin?.() ?? '', `--${name}-stdin`), source: `--${name}-stdin` };
  if (file !== undefined) return { value: firstLineOf(readNamed(file, io).toString('utf8'), file), source: file };
  if (fromArgument) {
    io.err(
      `Warning: other users of this machine can see the value of --${name}. Use --${name}-stdin, --${name}-file FILE or ${variable} instead.`,
    );
    return { value: argument, source: `--${name}` };
  }
  const fromEnvironment = io.env[variable];
  return fromEnvironment ? { value: fromEnvironment, source: variable } : undefined;
}

/** Only one secret can come from standard input. */
export function checkStdinUse(names: readonly string[], { options, flags }: GivenOptions): void {
  const reading = names.filter((name) => flags.has(`${name}-stdin`) || options[name] === '-');
  if (reading.length > 1) {
    throw new UsageError(`Only one secret can be read from standard input, not ${reading.join(' and ')}.`);
  }
}

/** Editors and `echo` end a file with a line break, which is not part of the secret. */
function firstLineOf(content: string, source: string): string {
  const line = content.split(/\r?\n/, 1)[0]!;
  if (line === '') throw new CommandFailure(`${source} is empty. It must contain the secret in its first line.`);
  return line;
}
