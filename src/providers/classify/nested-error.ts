/** Finds another server's error inside a text, as proxies pass it on: as JSON, or as Python prints a dictionary. */

interface NestedError {
  /** The text around it. */
  around: string;
  value: object;
  /** The text introduces it as the answer of an upstream. Otherwise it may repeat what the client sent. */
  announced: boolean;
}

const announcement =
  /(?:(?:error|exception)\s?[-:]|error code: \d{3} [-:]|status(?: code)?:? \d{3}\W{0,3})\s?(?:b?['"])?$/i;

export function nestedErrorIn(text: string): NestedError | undefined {
  const start = text.search(/[{[]\s*["'{]/);
  if (start < 0) return undefined;
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']')) + 1;
  if (end <= start) return undefined;
  const inside = text.slice(start, end);
  const value =
    parseObject(inside) ?? parseObject(inside.replace(/\\(["'])/g, '$1')) ?? parseObject(pythonToJson(inside));
  if (value === undefined) return undefined;
  const before = text.slice(0, start);
  return { around: `${before} ${text.slice(end)}`, value, announced: announcement.test(before.slice(-40)) };
}

export function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

const constants: Record<string, string> = { None: 'null', True: 'true', False: 'false' };

/** Converts Python's notation token by token: strings in either quote, and its three constants. */
function pythonToJson(repr: string): string {
  // An unclosed string extends to the end; otherwise many of them would make the search quadratic.
  const token = /'((?:[^'\\]|\\.)*)(?:'|$)|"((?:[^"\\]|\\.)*)(?:"|$)|\b(?:None|True|False)\b/gs;
  return repr.replace(token, (found: string, single?: string, double?: string) => {
    const text = single ?? double;
    if (text === undefined) return constants[found]!;
    return JSON.stringify(text.replace(/\\n/g, '\n').replace(/\\(.)/gs, '$1'));
  });
}
