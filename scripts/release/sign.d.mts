export function signFolder(folder: string, privateKey: string): void;
export function newKey(file: string): string;
