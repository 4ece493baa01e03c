import { expect, it } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { freshDatabase } from '../../tests/support/postgres.js';
import { silentLogger } from '../base/logger.js';
import { openStore } from '../storage/open-store.js';
import { AuditLog } from './audit.js';

it('entries of one millisecond are listed in the order of their numbers, over every page', async () => {
  const database = await freshDatabase();
  const store = await openStore({ databaseUrl: database.databaseUrl, logger: silentLogger });
  try {
    const log = new AuditLog(store.audit, new ManualClock(), silentLogger);
    for (let count = 1; count <= 20; count++) await log.record('operator', 'account.update', `acct-${count}`);
    const listed: number[] = [];
    for (let before: string | undefined; ; ) {
      const page = await store.audit.list(3, before === undefined ? {} : { before });
      if (page.length === 0) break;
      listed.push(...page.map(({ seq }) => seq));
      before = page.at(-1)!.id;
    }
    expect(listed).toEqual(Array.from({ length: 20 }, (_, index) => 20 - index));
  } finally {
    await store.close();
    await database.drop();
  }
});
