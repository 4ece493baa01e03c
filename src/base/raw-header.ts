/** Reads one header of a request from the HTTP parser's flat list of names and values. */

/** `name` is in lower case. Several lines are joined with commas, in their order; undefined where there is none. */
export function joinedHeader(rawHeaders: readonly string[], name: string): string | undefined {
  let found: string | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const candidate = rawHeaders[i]!;
    if (candidate.length !== name.length || candidate.toLowerCase() !== name) continue;
    const value = rawHeaders[i + 1]!;
    found = found === undefined ? value : `${found},${value}`;
  }
  return found;
}
