/** The providers that `lodestone init` offers. Read from the built-in files alone: nothing has to be merged and checked for their ids. */
import { builtinValues } from '../../catalogue/builtin.js';

interface KnownProvider {
  readonly id: string;
  /** The variable of its key; absent where it finds its credentials in another way. */
  readonly api_key_env?: string;
}

export type KnownProviders = ReadonlyMap<string, KnownProvider>;

export async function knownProviders(): Promise<KnownProviders> {
  const files = Object.entries(await builtinValues()).filter(([name]) => name.startsWith('providers/'));
  const all = files.flatMap(([, value]) => (value as { providers?: KnownProvider[] }).providers ?? []);
  return new Map(all.map((provider) => [provider.id, provider]));
}
