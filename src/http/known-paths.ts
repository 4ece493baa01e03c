/** The methods of every path, to tell a 405 with its `allow` header from a 404. */

interface KnownPath {
  readonly matches: RegExp;
  readonly methods: Set<string>;
}

export class KnownPaths {
  private readonly byPattern = new Map<string, KnownPath>();

  /** `pattern` in the framework's form: `/v1/aliases/:name`, `/v1/models/*`. */
  add(pattern: string, methods: string | readonly string[]): void {
    const known = this.byPattern.get(pattern) ?? { matches: pathPattern(pattern), methods: new Set<string>() };
    for (const method of [methods].flat()) known.methods.add(method);
    this.byPattern.set(pattern, known);
  }

  /** Every pattern with its methods; a test compares them with the OpenAPI document. */
  all(): { pattern: string; methods: string[] }[] {
    return [...this.byPattern].map(([pattern, { methods }]) => ({ pattern, methods: [...methods] }));
  }

  /** The methods of a path, `OPTIONS` last; empty where there is no such path. */
  methodsOf(path: string): string[] {
    const methods = new Set<string>();
    for (const known of this.byPattern.values()) {
      if (known.matches.test(path)) for (const method of known.methods) methods.add(method);
    }
    return methods.size > 0 ? [...methods, 'OPTIONS'] : [];
  }
}

function pathPattern(pattern: string): RegExp {
  const source = pattern
    .split('/')
    .map((segment) =>
      segment === '*' ? '.*' : segment.startsWith(':') ? '[^/]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'),
    )
    .join('/');
  return new RegExp(`^${source}$`);
}
