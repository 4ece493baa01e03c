export function changesOf(changelog: string, version: string): string | undefined;
export function isoDate(seconds: number): string;
export function notesOf(release: {
  version: string;
  changes: string;
  made: { node: string; npm: string; commit: string; day: string };
}): string;
export function licencesText(
  packages: ReadonlyMap<string, { name: string; entry: { version?: string; license?: string } }>,
): string;
