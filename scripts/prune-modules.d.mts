/** Types of scripts/prune-modules.mjs for the tests. */
export function pruneModules(root: string): string[];
