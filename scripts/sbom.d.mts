/** Types of scripts/sbom.mjs for the tests. */
import type { Lock } from './production-packages.mjs';

export interface Component {
  'bom-ref': string;
  type: string;
  name: string;
  version: string;
  scope: 'required' | 'optional';
  purl: string;
  hashes?: { alg: string; content: string }[];
  licenses?: ({ license: { id: string } | { name: string } } | { expression: string })[];
  properties: { name: string; value: string }[];
}

export interface Sbom {
  bomFormat: string;
  specVersion: string;
  serialNumber: string;
  version: number;
  metadata: { timestamp: string; component: Omit<Component, 'scope' | 'properties'> };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

export interface Manifest {
  name: string;
  version: string;
  description: string;
  license: string;
}

export function sbomOf(parts: { manifest: Manifest; lock: Lock; time: string }): Sbom;
