/** The naming rule of an alias (§2.3). */
export const aliasNameRule = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function isAliasName(name: string): boolean {
  return aliasNameRule.test(name);
}
