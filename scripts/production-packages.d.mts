/** Types of scripts/production-packages.mjs for the tests. */
export interface LockEntry {
  version: string;
  license?: string;
  integrity?: string;
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
  peer?: boolean;
  link?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

export interface Lock {
  packages: Record<string, LockEntry>;
}

export interface ProductionPackage {
  name: string;
  entry: LockEntry;
  optional: boolean;
}

export function productionPackages(lock: Lock, from?: string): Map<string, ProductionPackage>;
export function needsOf(lock: Lock, place: string): { place: string; optional: boolean }[];
export function nameOf(place: string): string;
