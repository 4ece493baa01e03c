/** The names and labels that a PromQL expression uses, as far as is needed to hold them against the table of metrics. */

export interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
}

const words = new Set(
  (
    'sum min max avg count by without on ignoring and or unless rate increase irate changes histogram_quantile label_values ' +
    'bool offset group_left group_right'
  ).split(' '),
);

/** Metrics with the labels that they are selected by; what is in strings, braces, brackets and grouping lists is no metric. */
export function selectorsOf(expression: string): Selector[] {
  const found: Selector[] = [];
  const bare = expression.replace(/\b(?:by|without|on|ignoring)\s*\([^)]*\)/g, ' ');
  for (const match of bare.matchAll(/([a-zA-Z_:][\w:]*)(?![\w:])(?!\s*\()\s*(\{(?:[^}"]|"(?:[^"\\]|\\.)*")*\})?/g)) {
    const [, name = '', braces = ''] = match;
    const before = bare.slice(0, match.index);
    const quoted = (before.match(/(?<!\\)"/g) ?? []).length % 2 === 1;
    const inRange = before.lastIndexOf('[') > before.lastIndexOf(']');
    if (quoted || inRange || words.has(name)) continue;
    found.push({
      metric: name,
      labels: [...braces.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label]) => label!),
    });
  }
  return found;
}

/** Labels that series are grouped by. */
export function groupingsOf(expression: string): string[] {
  return [...expression.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g)].flatMap(([, list]) =>
    list!.split(',').map((label) => label.trim()),
  );
}
