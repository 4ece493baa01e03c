/** Lists the keys of an account page by page, where it has many. Without it each page sorts all of them. */
export const keysInOrder = 'create index if not exists keys_in_order on lodestone.keys (account_id, created_at, id)';

export const beforeKeysInOrder: readonly string[] = [
  'create index concurrently if not exists keys_in_order on lodestone.keys (account_id, created_at, id)',
];
