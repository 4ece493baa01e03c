export interface Place {
  readonly method: string;
  readonly path: string;
  readonly model: string;
  readonly field: string;
  readonly template: string;
}
export const places: readonly Place[];
export function bodyWith(template: string, value: string): string;
