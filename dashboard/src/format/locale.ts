/** The reader's locale. A system may name one that `Intl` does not know, such as `en-US@posix`; then it is English. */

export function knownLocale(wanted: () => string | undefined): string {
  try {
    const [found] = Intl.getCanonicalLocales(wanted() ?? []);
    return found ?? new Intl.NumberFormat().resolvedOptions().locale;
  } catch {
    return 'en';
  }
}

export const locale = knownLocale(() => (typeof navigator === 'undefined' ? undefined : navigator.language));
