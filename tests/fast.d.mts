/** The types of fast.mjs. */
export const slowUnits: string[];
export const smoke: string[];
export const leftOut: string[];
