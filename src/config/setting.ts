/** One row of the settings: what a field of the configuration file is. */
import type { z } from 'zod';

/** One field of the file. */
export interface Setting<Name extends string = string, Value = unknown, Default = unknown> {
  /** Its name in `Config`. A unit comes last: `drainMs`. */
  readonly name: Name;
  readonly accepts: z.ZodType<Value>;
  readonly default: Default;
  /** A variable of the environment that wins over the file. */
  readonly env?: string;
  /** A path, which is relative to the folder of the file. */
  readonly isPath?: true;
  /** A secret: the file may also be named, by `<field>_file` or the variable `<env>_FILE`. */
  readonly isSecret?: true;
  readonly docs: SettingDocs;
}

interface SettingDocs {
  /** The default as the page shows it; absent where the value itself can be shown. */
  readonly default?: string;
  readonly about: string;
}

export type Settings = Readonly<Record<string, Setting>>;

/** The part of `Config` that a list of settings makes. */
export type ValuesOf<Rows extends Settings> = {
  -readonly [Key in keyof Rows as Rows[Key]['name']]: Rows[Key] extends Setting<string, infer Value, infer Default>
    ? Value | (null extends Default ? null : never)
    : never;
};

export function setting<const Name extends string, Value, Default extends Value | null>(
  name: Name,
  accepts: z.ZodType<Value>,
  fallback: Default,
  { env, isPath, isSecret, ...docs }: SettingDocs & Pick<Setting, 'env' | 'isPath' | 'isSecret'>,
): Setting<Name, Value, Default> {
  const marks = { ...(env && { env }), ...(isPath && { isPath }), ...(isSecret && { isSecret }) };
  return { name, accepts, default: fallback, ...marks, docs };
}
