/** Every migration, oldest first. A released one is never changed; a new one only adds. */
import { initial } from './0001-initial.js';

export interface Migration {
  readonly name: string;
  readonly sql: string;
}

export const migrations: readonly Migration[] = [{ name: '0001-initial', sql: initial }];
