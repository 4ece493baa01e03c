/** What makes the demo account in a process that serves nothing itself. */
import { AuditLog } from '../accounts/audit.js';
import { AccountDirectory } from '../accounts/directory.js';
import { systemClock as clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Store } from '../storage/store.js';
import type { DemoParts } from './demo.js';

/** Only while no other process serves from the store: none of them would hear of the changes. */
export function demoParts(store: Store, logger: Logger): DemoParts {
  return {
    store,
    clock,
    directory: new AccountDirectory({ store, clock, audit: new AuditLog(store.audit, clock, logger) }),
  };
}
