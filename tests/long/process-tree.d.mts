/** Megabytes of 10^6 bytes. */
export function treeMegabytes(pid: number): number;
