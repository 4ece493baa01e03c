/** Which fields the secret of a provider has, and what of an address it fills. */
import type { Provider } from '../../catalogue/route.js';
import type { Secret, SecretKind } from '../../domain/credential.js';

/** null where the provider takes none. */
export function secretKindOf({ id, dialect, auth }: Pick<Provider, 'id' | 'dialect' | 'auth'>): SecretKind | null {
  if (auth === 'none') return null;
  if (dialect === 'azure' || id === 'azure') return 'azure';
  if (dialect === 'bedrock' || auth === 'aws') return 'bedrock';
  if (id === 'vertex' || auth === 'google') return 'vertex';
  return 'api_key';
}

/** The name that stands for the variables of an address; undefined where it has none. */
export function placeOf({ resource, project }: Secret): string | undefined {
  return resource ?? project;
}
