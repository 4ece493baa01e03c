/** Every place that has the version of the product. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Each pattern holds the version in its last group. */
const places = [
  ['package.json', /^( {2}"version": ")([^"]+)/m],
  ['dashboard/package.json', /^( {2}"version": ")([^"]+)/m],
  ['package-lock.json', /^( {2}"version": ")([^"]+)/m],
  ['package-lock.json', /^( {4}"": \{\n {6}"name": "[^"]+",\n {6}"version": ")([^"]+)/m],
  ['package-lock.json', /^( {4}"dashboard": \{\n {6}"name": "[^"]+",\n {6}"version": ")([^"]+)/m],
  ['compose.yaml', /( image: lodestone:)(\S+)/],
  ['Dockerfile', /^(ARG VERSION=)(\S+)/m],
  ['deploy/kubernetes/base/kustomization.yaml', /(newTag: )(\S+)/],
  ['deploy/helm/lodestone/Chart.yaml', /^(version: )(\S+)/m],
  ['deploy/helm/lodestone/Chart.yaml', /^(appVersion: )(\S+)/m],
  ...['README.md', 'docs/guide/deploy.md', 'docs/guide/releases.md'].map((file) => [
    file,
    /(lodestone-gateway-lodestone-)(\d[\w.-]*)(?=\.tgz)/g,
  ]),
  ...['plain', 'everything', 'cloud', 'gateway'].map((name) => [
    `tests/shipping/helm/golden-${name}.yaml`,
    /(image: \S+\/lodestone:)(\S+)/g,
  ]),
  ['docs/guide/deploy.md', /(lodestone:|newTag: )(\d+\.\d+\.\d+)/g],
];

/** What does not say this version. */
export function versionFaults(folder, version) {
  return places.flatMap(([file, pattern]) => {
    const found = [...readFileSync(join(folder, file), 'utf8').matchAll(new RegExp(pattern, 'gm'))];
    if (found.length === 0) return [`${file} does not name the version at ${pattern}.`];
    const others = found.map((match) => match.at(-1)).filter((text) => text !== version);
    return others.length > 0 ? [`${file} says ${others[0]}, and package.json ${version}.`] : [];
  });
}

export function setVersion(folder, version) {
  if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)) throw new Error(`"${version}" is no version such as 1.2.3.`);
  for (const [file, pattern] of places) {
    const path = join(folder, file);
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(pattern, (_, before) => `${before}${version}`),
    );
  }
  return `Every place says ${version} now. Give CHANGELOG.md its section and commit.`;
}
