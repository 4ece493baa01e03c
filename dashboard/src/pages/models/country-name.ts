/** The name of a country in the reader's language. */
import { locale } from '../../format/locale.js';

const names = new Intl.DisplayNames(locale, { type: 'region' });

export function countryName(code: string): string {
  try {
    return names.of(code) ?? code;
  } catch {
    return code;
  }
}
