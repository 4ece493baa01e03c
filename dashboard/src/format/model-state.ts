/** The states of a model, as every page names them. */
const modelStateNames = {
  available: 'available',
  soft_disabled: 'temporarily disabled',
  disabled: 'disabled',
} as const;

/** Also of a state that this version does not know. */
export function modelStateName(state: string): string {
  return (modelStateNames as Readonly<Record<string, string>>)[state] ?? state.replaceAll('_', ' ');
}
