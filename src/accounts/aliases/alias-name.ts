/** Checks the name of an alias. */
import { aliasNameRule } from '../../catalogue/model-id.js';

export function isAliasName(name: string): boolean {
  return aliasNameRule.test(name);
}
