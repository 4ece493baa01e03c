/**
 * `npm run sbom [-- FILE]`: writes a CycloneDX 1.5 bill of materials of what is shipped, from package-lock.json alone, so that it is
 * the same on every machine and names no path or host of one. To standard output without a file.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { nameOf, needsOf, productionPackages } from './production-packages.mjs';

/** Build-time packages whose own program is part of the built files. */
const builtIn = ['node_modules/@scalar/fastify-api-reference'];

/** `time` is an ISO 8601 text. */
export function sbomOf({ manifest, lock, time }) {
  const gateway = productionPackages(lock);
  const dashboard = productionPackages(lock, 'dashboard');
  const built = new Map(builtIn.map((place) => [place, { name: nameOf(place), entry: lock.packages[place] }]));
  const shipped = [
    ...[...gateway].map(([place, each]) => componentOf(each, each.optional ? 'optional' : 'required', place)),
    ...[...dashboard, ...built]
      .filter(([place]) => !gateway.has(place))
      .map(([place, each]) =>
        componentOf(each, 'required', place, 'built into the files of the dashboard or the docs'),
      ),
  ];
  const components = [...new Map(shipped.map((each) => [each['bom-ref'], each])).values()].sort(byRef);
  const own = {
    'bom-ref': refOf(manifest),
    type: 'application',
    name: manifest.name,
    version: manifest.version,
    description: manifest.description,
    purl: purlOf(manifest),
    licenses: licencesOf(manifest.license),
  };
  const body = { metadata: { timestamp: time, component: own }, components, dependencies: graphOf(lock, own, gateway) };
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify({ ...body, metadata: own }))}`,
    version: 1,
    ...body,
  };
}

function componentOf({ name, entry }, scope, place, how) {
  const part = { name, version: entry.version };
  return {
    'bom-ref': refOf(part),
    type: 'library',
    ...part,
    scope,
    purl: purlOf(part),
    ...(entry.integrity && { hashes: hashesOf(entry.integrity) }),
    ...(entry.license && { licenses: licencesOf(entry.license) }),
    properties: [
      { name: 'cdx:npm:package:path', value: place },
      ...(how ? [{ name: 'lodestone:shipped', value: how }] : []),
    ],
  };
}

/** What needs what, for the packages that are loaded at run time. */
function graphOf(lock, own, gateway) {
  const refAt = (place) => refOf({ name: nameOf(place), version: lock.packages[place].version });
  const dependsOn = (place) => [...new Set(needsOf(lock, place).map((need) => refAt(need.place)))].sort();
  const graph = new Map([[own['bom-ref'], dependsOn('')]]);
  for (const place of gateway.keys()) {
    graph.set(refAt(place), [...new Set([...(graph.get(refAt(place)) ?? []), ...dependsOn(place)])]);
  }
  return [...graph].map(([ref, needed]) => ({ ref, dependsOn: needed }));
}

const refOf = ({ name, version }) => `${name}@${version}`;
const purlOf = ({ name, version }) => `pkg:npm/${name.replace(/^@/, '%40')}@${version}`;
const byRef = (a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1);

/** `sha512-<base64>`, one or more. */
function hashesOf(integrity) {
  return integrity.split(' ').map((text) => {
    const [kind, digest] = text.split('-', 2);
    return { alg: kind.toUpperCase().replace(/^SHA/, 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') };
  });
}

function licencesOf(text) {
  if (/ (OR|AND|WITH) /.test(text)) return [{ expression: text }];
  return [{ license: /^[A-Za-z0-9.+-]+$/.test(text) ? { id: text } : { name: text } }];
}

/** The same content has the same number (a UUID of version 8). */
function uuidOf(text) {
  const hex = createHash('sha256').update(text).digest('hex');
  const variant = '89ab'[Number.parseInt(hex[16], 16) % 4];
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}

/** Now, unless the build says which time it is of (https://reproducible-builds.org). */
function timeOf({ SOURCE_DATE_EPOCH: seconds }) {
  return new Date(seconds ? Number(seconds) * 1000 : Date.now()).toISOString();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const read = (name) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
  const sbom = sbomOf({ manifest: read('package.json'), lock: read('package-lock.json'), time: timeOf(process.env) });
  writeFileSync(process.argv[2] ?? 1, `${JSON.stringify(sbom, null, 2)}\n`);
}
