/** The types of start-arguments.mjs, for its test. */
export const usage: string;
export function readArguments(
  argv: readonly string[],
  env: Record<string, string | undefined>,
): { serve: string[] } | { help: true } | { fault: string };
