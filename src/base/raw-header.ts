/** One header of a request, read from the flat list of names and values that the HTTP parser gives. */

/** `name` in lower case. Several lines of it come back joined with commas, in their order; undefined where there is none. */
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
