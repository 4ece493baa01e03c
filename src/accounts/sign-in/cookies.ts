/** Names and attributes of the dashboard's cookies. No script and no other site can use them. */

export function cookieName(name: string, secure: boolean): string {
  return `${secure ? '__Host-' : ''}lodestone_${name}`;
}

/** `Strict`: the page itself needs no cookie, so a link from another site still leads to the session. */
export const cookieAttributes = (secure: boolean) =>
  ({ secure, sameSite: 'strict', httpOnly: true, path: '/' }) as const;

/** The value of one cookie of a `Cookie` header. */
export function cookieValue(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const equals = part.indexOf('=');
    if (equals > 0 && part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim();
  }
  return undefined;
}
