export function versionFaults(folder: string, version: string): string[];
export function setVersion(folder: string, version: string): string;
