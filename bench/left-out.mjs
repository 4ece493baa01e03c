/** Thrown where a measurement cannot be made on this machine; its message says what is missing. */
export class LeftOut extends Error {}
