/** Removes routes by their provider. */
import {
  anything,
  areListsSet,
  type Entries,
  listsPermit,
  listsRelaxation,
  listsSchema,
  readLists,
  readStoredLists,
} from './allow-deny.js';
import type { Gate } from './gate.js';

const entries: Entries = {
  expected: 'provider ids such as "acme"',
  pattern: /^[A-Za-z0-9._-]{1,64}$/,
  // `auto` and `alias` have a meaning in model ids, so no provider has these names.
  except: /^([Aa][Uu][Tt][Oo]|[Aa][Ll][Ii][Aa][Ss])$/,
  normalise: (entry) => entry.toLowerCase(),
};

export const providers: Gate<'providers'> = {
  name: 'providers',
  defaultSetting: anything,
  takes: '`allow` and `deny`, lists of provider ids in any case; an empty `allow` restricts nothing',
  removes: 'Routes of a provider that is not in `allow`, or is in `deny`; a provider is always known.',
  card: { title: 'Providers', control: { kind: 'lists', suggest: 'providers' } },
  schema: listsSchema(entries),
  read: (value, param = 'providers') => readLists(param, value, entries),
  readStored: readStoredLists,
  isSet: areListsSet,
  permits: ({ provider }, lists) => listsPermit([provider.id], lists),
  relaxationFor: ({ provider }, lists) => listsRelaxation([provider.id], lists, 'the provider'),
};
