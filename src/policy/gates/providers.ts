/** Removes routes by who serves them. */
import { isProviderId } from '../../base/yaml-fields.js';
import { anything, areListsSet, listsPermit, readLists, relaxedLists, storedLists } from './allow-deny.js';
import type { Gate } from './gate.js';

const entries = {
  expected: 'provider ids such as "acme"',
  normalised(entry: string) {
    const id = entry.toLowerCase();
    return isProviderId(id) ? id : undefined;
  },
};

export const providers: Gate<'providers'> = {
  name: 'providers',
  defaultSetting: anything,
  takes: '`allow` and `deny`, lists of provider ids in any case; an empty `allow` restricts nothing',
  removes: 'Routes of a provider that is not in `allow`, or is in `deny`; a provider is always known.',
  read: (value) => readLists('providers', value, entries),
  stored: storedLists,
  isSet: areListsSet,
  permits: ({ provider }, lists) => listsPermit([provider.id], lists),
  relaxed: ({ provider }, lists) => relaxedLists([provider.id], lists, 'the provider'),
};
