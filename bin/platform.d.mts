/** The types of platform.mjs, for its test. */
export function platformFault(platform?: string): string | undefined;
