/**
 * The port by which the processes of a fleet learn that what they hold in memory is out of date (architecture 3). A version is
 * an opaque text that is never used twice, so that shared state which lost its memory can only make processes read again.
 */

/** What has a version: a key, an account, the states and holds of models, the catalogue. */
export type Subject = `key:${string}` | `account:${string}` | 'states' | 'catalogue';

export interface Versions {
  /**
   * The version of each subject as it stands, made where there is none yet; null where shared state is out of reach. What is
   * read from the store after this call is at least as new as these versions.
   */
  current(subjects: readonly Subject[]): Promise<string[] | null>;
  /**
   * Gives each subject a new version. Call it after the change is in the store and before it is acknowledged. Resolves when
   * shared state has it, or when it has been out of reach for so long that every process must have noticed; it is then
   * made up for as soon as shared state is back. Never rejects.
   */
  raise(subjects: readonly Subject[]): Promise<void>;
  /**
   * Told each time the connection to shared state was lost, or it refused its service: a raise may have been missed, so nothing that was
   * held under a version may be trusted. A moment without an answer is no such loss; nobody acts on what is held while it lasts.
   */
  onLost(listener: () => void): void;
}
