export const largeShapes: readonly string[];
export function largeValue(shape: string, bytes: number): string;
export function bodyWith(template: string, value: string): string;
