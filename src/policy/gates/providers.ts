/** Removes routes by who serves them. */
import {
  anything,
  areListsSet,
  type Entries,
  listsPermit,
  listsSchema,
  readLists,
  relaxedLists,
  storedLists,
} from './allow-deny.js';
import type { Gate } from './gate.js';

const entries: Entries = {
  expected: 'provider ids such as "acme"',
  pattern: /^[A-Za-z0-9._-]{1,64}$/,
  // Both words have a meaning of their own in a model id, so no provider has them.
  except: /^([Aa][Uu][Tt][Oo]|[Aa][Ll][Ii][Aa][Ss])$/,
  normalised: (entry) => entry.toLowerCase(),
};

export const providers: Gate<'providers'> = {
  name: 'providers',
  defaultSetting: anything,
  takes: '`allow` and `deny`, lists of provider ids in any case; an empty `allow` restricts nothing',
  removes: 'Routes of a provider that is not in `allow`, or is in `deny`; a provider is always known.',
  schema: listsSchema(entries),
  read: (value) => readLists('providers', value, entries),
  stored: storedLists,
  isSet: areListsSet,
  permits: ({ provider }, lists) => listsPermit([provider.id], lists),
  relaxed: ({ provider }, lists) => relaxedLists([provider.id], lists, 'the provider'),
};
