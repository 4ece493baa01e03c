/** A name in quotation marks, for messages. */
export function quoted(name: string): string {
  return `“${name}”`;
}
