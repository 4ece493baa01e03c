/** The types of prepare.mjs, for its test. */
export const root: string;
export function installIsStale(lockText?: string, installedText?: string): boolean;
