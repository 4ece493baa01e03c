export const largeShapes: readonly string[];
export function largeValue(shape: string, bytes: number): string;
