/**
 * `${NAME}` in a configuration file (contract 2). Inside `{ … }` YAML takes its braces for a mapping, so they are hidden
 * before parsing, behind characters of the same width so that lines and columns stay true, and resolved after it.
 */
const written = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
const hidden = /\$\uE000([A-Za-z_][A-Za-z0-9_]*)\uE001/g;

export type Environment = Readonly<Record<string, string | undefined>>;

export function hideReferences(text: string): string {
  return text.replace(written, '$\uE000$1\uE001');
}

/** Gives hidden references their written form back, for messages. */
export function showReferences(text: string): string {
  return text.replace(hidden, (_, name: string) => `\${${name}}`);
}

/** The text with every reference replaced; `absent` lists the variables that the environment does not have. */
export function resolveReferences(text: string, env: Environment): { text: string; absent: string[] } {
  const absent: string[] = [];
  const resolved = text.replace(hidden, (_, name: string) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined) absent.push(name);
    return value ?? '';
  });
  return { text: resolved, absent };
}
