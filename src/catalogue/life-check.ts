/** Checks the lives of models and routes against one another and against the catalogue. */
import type { Located, ModelEntry } from './catalogue-file.js';
import type { StatedLife } from './life.js';
import type { MergedCatalogue } from './load-catalogue.js';

/** Adds faults for dates that contradict one another, and for successors that the catalogue does not have. */
export function checkLives(model: Located<ModelEntry>, canonicalId: string, merged: MergedCatalogue): void {
  for (const located of [model, ...model.entry.routes]) checkLife(located, canonicalId, merged);
}

function checkLife({ entry, source, path }: Located<StatedLife>, canonicalId: string, merged: MergedCatalogue): void {
  const { released, deprecated, retires } = entry;
  if (!retires) return;
  for (const [name, date] of Object.entries({ released, deprecated })) {
    if (!date || date <= retires.date) continue;
    const expected = `a day that is not before \`${name}\` (${date})`;
    source.faultAt([...path, 'retires', 'date'], `found ${retires.date}, expected ${expected}`);
  }
  const { replaced_by: replacedBy } = retires;
  if (!replacedBy || merged.faulty.has(replacedBy.toLowerCase())) return;
  if (replacedBy !== canonicalId && merged.models.has(replacedBy)) return;
  source.faultAt(
    [...path, 'retires', 'replaced_by'],
    `found "${replacedBy}", expected another model that the catalogue has; leave it out where there is none`,
  );
}
