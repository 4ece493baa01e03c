/** Lists every migration, oldest first. A released migration is never changed, and a new one only adds. */
import { initial } from './0001-initial.js';
import { routing } from './0002-routing.js';
import { signIn } from './0003-sign-in.js';
import { payments } from './0004-payments.js';
import { changes } from './0005-changes.js';
import { sessions } from './0006-sessions.js';
import { money } from './0007-money.js';
import { bills } from './0008-bills.js';
import { requestPolicy } from './0010-request-policy.js';

export interface Migration {
  readonly name: string;
  readonly sql: string;
}

export const migrations: readonly Migration[] = [
  { name: '0001-initial', sql: initial },
  { name: '0002-routing', sql: routing },
  { name: '0003-sign-in', sql: signIn },
  { name: '0004-payments', sql: payments },
  { name: '0005-changes', sql: changes },
  { name: '0006-sessions', sql: sessions },
  { name: '0007-money', sql: money },
  { name: '0008-bills', sql: bills },
  { name: '0010-request-policy', sql: requestPolicy },
];
