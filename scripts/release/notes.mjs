/** The texts of a release: its notes and the licences of what is in it. */

/** The section of a version in the changelog, without its heading; undefined where there is none with a date. */
export function changesOf(changelog, version) {
  const heading = new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d{2}-\\d{2}$`, 'm').exec(
    changelog,
  );
  if (!heading) return undefined;
  const rest = changelog.slice(heading.index + heading[0].length);
  return rest.slice(0, /^## /m.exec(rest)?.index).trim();
}

export const isoDate = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);

export function notesOf({ version, changes, made: { node, npm, commit, day } }) {
  return `# Lodestone ${version}

Commit ${commit} of ${day}, built with Node ${node} and npm ${npm}. The same commit and the same versions give the same bytes.

Check the signature and the checksums before you install it: docs/guide/releases.md, "Check a release".

Known vulnerabilities: ask a database that you trust with sbom.cdx.json. npm has none that can be asked offline.

${changes}
`;
}

/** One line for each package, in the order of their names. */
export function licencesText(packages) {
  const lines = [...packages.values()].map(({ name, entry }) => `${name} ${entry.version}: ${entry.license}`);
  return `${[...new Set(lines)].toSorted().join('\n')}\n`;
}
