/** The naming rule of an alias (§2.3). */
const rule = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function isAliasName(name: string): boolean {
  return rule.test(name);
}
