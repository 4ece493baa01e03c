/** Removes routes by the creator of their model. */
import type { Route } from '../../catalogue/route.js';
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
  expected: 'creators such as "meta", the middle segment of a model id',
  pattern: /^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}$/,
  normalise: (entry) => entry.toLowerCase(),
};

/** Compared in lower case, so that a capital letter in a deny list does not make it useless. */
const namesOf = ({ model }: Route): [string] => [model.creator.toLowerCase()];

export const creators: Gate<'creators'> = {
  name: 'creators',
  defaultSetting: anything,
  takes: '`allow` and `deny`, lists of creators in any case; an empty `allow` restricts nothing',
  removes: 'Routes of a model whose creator is not in `allow`, or is in `deny`; a creator is always known.',
  card: { title: 'Creators', control: { kind: 'lists', suggest: 'creators' } },
  schema: listsSchema(entries),
  read: (value, param = 'creators') => readLists(param, value, entries),
  readStored: readStoredLists,
  isSet: areListsSet,
  permits: (route, lists) => listsPermit(namesOf(route), lists),
  relaxationFor: (route, lists) => listsRelaxation(namesOf(route), lists, 'the creator'),
};
