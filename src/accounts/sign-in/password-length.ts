/** What a password may be long, wherever one is set. */
export const passwordLength = { min: 8, max: 128 } as const;
