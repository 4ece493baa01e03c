/**
 * Lets requests go first where the embedded server runs on the same core: nobody waits for a settlement, and every request would
 * wait for one (docs/decisions/0039).
 */
import { writeFileSync } from 'node:fs';

/** Leaves the server a quarter of a core that requests fill, which is twice what settlements need. */
export const serverNiceness = 5;

/**
 * Linux may schedule each session as a group, and within a group of one a process' own priority means nothing. Every backend of
 * PostgreSQL is such a session, so its group gets the priority too.
 */
export function yieldToRequests(backendPid: number): void {
  try {
    writeFileSync(`/proc/${backendPid}/autogroup`, String(serverNiceness));
  } catch {
    // Not Linux, no such groups, or not allowed: the process' own priority applies.
  }
}
