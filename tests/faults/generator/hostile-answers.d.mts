export interface HostileAnswer {
  api: string;
  form: 'whole' | 'one frame' | 'many frames';
  frame: number;
  path: (string | number)[];
  shape: string;
}
export const hostileAnswers: readonly HostileAnswer[];
export function hostileCatalogue(url: string, coTenantUrl: string): Record<string, unknown>;
export function titleOf(hostile: HostileAnswer): string;
