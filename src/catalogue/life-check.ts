/** Checks the lives of models and routes against one another and against the catalogue. */
import type { Located, ModelEntry } from './catalogue-file.js';
import { dayMs, dayMsOf } from './dates.js';
import type { StatedLife } from './life.js';
import type { MergedCatalogue } from './load-catalogue.js';
import { noticeDays } from './retirement.js';

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

/** What a check of the catalogue says of a date that has come, or comes soon. It is no fault by itself. */
export interface DateNote {
  /** `file:line`. */
  readonly at: string;
  readonly what: string;
}

/**
 * The routes that are retired or retire within 60 days, and the offers whose promised day has passed. A built-in route that is retired is
 * a fault too: nobody but a newer catalogue can take it out.
 */
export function checkDates(merged: MergedCatalogue, nowMs: number): DateNote[] {
  const notes: DateNote[] = [];
  for (const [canonicalId, model] of merged.models) {
    for (const located of model.entry.routes) {
      const id = `${located.entry.provider}/${canonicalId}/${located.entry.locode}`;
      const own = located.entry.retires !== undefined;
      const place = own ? located : model;
      // Only where there is something to say: to find a line, the whole file is parsed.
      const at = () => `${place.source.file}:${place.source.lineOf([...place.path, 'retires'])}`;
      const retires = own ? located.entry.retires : model.entry.retires;
      const atMs = retires && dayMsOf(retires.date)!;
      const advice = retires?.replaced_by ? `; ${retires.replaced_by} replaces it` : '';
      if (atMs && nowMs >= atMs && merged.maintained.has(place.source)) {
        place.source.faultAt(
          [...place.path, 'retires'],
          `found ${retires.date} of ${id}, expected a day to come${advice}`,
        );
      } else if (atMs && nowMs >= atMs) {
        notes.push({ at: at(), what: `${id} is retired since ${retires.date}, and is not served${advice}` });
      } else if (atMs && nowMs >= atMs - noticeDays * dayMs) {
        notes.push({ at: at(), what: `${id} retires on ${retires.date}${advice}` });
      }
      const through = located.entry.price?.offer?.through;
      if (through !== undefined && nowMs >= dayMsOf(through)! + dayMs) {
        const line = located.source.lineOf([...located.path, 'price']);
        const what = `the price of ${id} is an offer that was promised until ${through}: look whether it still holds`;
        notes.push({ at: `${located.source.file}:${line}`, what });
      }
    }
  }
  return notes;
}
