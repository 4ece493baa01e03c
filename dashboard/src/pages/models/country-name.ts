/** The name of a country in the reader's language. */
const names = new Intl.DisplayNames(undefined, { type: 'region' });

export function countryName(code: string): string {
  try {
    return names.of(code) ?? code;
  } catch {
    return code;
  }
}
