/** Removes routes by the creator of their model. */
import { listsGate } from './allow-deny.js';
import type { Gate } from './gate.js';

export const creators: Gate<'creators'> = {
  ...listsGate('creators', {
    entries: {
      expected: 'creators such as "meta", the middle segment of a model id',
      pattern: /^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}$/,
      normalise: (entry) => entry.toLowerCase(),
    },
    // Compared in lower case, so that a capital letter in a deny list does not make it useless.
    namesOf: ({ model }) => [model.creator.toLowerCase()],
    what: 'the creator',
  }),
  takes: '`allow` and `deny`, lists of creators in any case; an empty `allow` restricts nothing',
  removes: 'Routes of a model whose creator is not in `allow`, or is in `deny`; a creator is always known.',
  card: { title: 'Creators', control: { kind: 'lists', suggest: 'creators' } },
};
