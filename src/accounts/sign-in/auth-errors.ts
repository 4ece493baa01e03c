/** Tells errors of better-auth from errors of the store. */
import { storeError } from '../../storage/database.js';

/** Only the library's own errors have a status. They come from what it read of the store. */
export function statusOf(error: unknown): number | undefined {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : undefined;
}

const uniqueViolation = '23505';

export function isTaken(error: unknown): boolean {
  return (storeError(error) as { code?: unknown }).code === uniqueViolation;
}
