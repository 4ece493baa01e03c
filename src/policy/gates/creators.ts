/** Removes routes by who made the model. */
import type { Route } from '../../catalogue/route.js';
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
  expected: 'creators such as "meta", the middle segment of a model id',
  pattern: /^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}$/,
  normalised: (entry) => entry.toLowerCase(),
};

/** Compared without regard to case: a list that a capital letter makes useless would keep nothing out. */
const namesOf = ({ model }: Route): [string] => [model.creator.toLowerCase()];

export const creators: Gate<'creators'> = {
  name: 'creators',
  defaultSetting: anything,
  takes: '`allow` and `deny`, lists of creators in any case; an empty `allow` restricts nothing',
  removes: 'Routes of a model whose creator is not in `allow`, or is in `deny`; a creator is always known.',
  schema: listsSchema(entries),
  read: (value) => readLists('creators', value, entries),
  stored: storedLists,
  isSet: areListsSet,
  permits: (route, lists) => listsPermit(namesOf(route), lists),
  relaxed: (route, lists) => relaxedLists(namesOf(route), lists, 'the creator'),
};
