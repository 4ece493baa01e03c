/** Removes routes by their provider. */
import { listsGate } from './allow-deny.js';
import type { Gate } from './gate.js';

export const providers: Gate<'providers'> = {
  ...listsGate('providers', {
    entries: {
      expected: 'provider ids such as "acme"',
      pattern: /^[A-Za-z0-9._-]{1,64}$/,
      // `auto` and `alias` have a meaning in model ids, so no provider has these names.
      except: /^([Aa][Uu][Tt][Oo]|[Aa][Ll][Ii][Aa][Ss])$/,
      normalise: (entry) => entry.toLowerCase(),
    },
    namesOf: ({ provider }) => [provider.id],
    what: 'the provider',
  }),
  takes: '`allow` and `deny`, lists of provider ids in any case; an empty `allow` restricts nothing',
  removes: 'Routes of a provider that is not in `allow`, or is in `deny`; a provider is always known.',
  card: { title: 'Providers', control: { kind: 'lists', suggest: 'providers' } },
};
