/** OpenRouter's ids: `{creator}/{model}`, perhaps with a suffix. Known only where the operator has switched them on. */
import { gatewayError } from '../errors/gateway-error.js';
import { idExcerpt } from './model-id.js';
import type { Snapshot } from './route.js';

interface ShortId {
  readonly creator: string;
  readonly model: string;
  /** What the suffix asks the routes to be ranked by; null without one. */
  readonly sort: 'price' | 'throughput' | null;
}

const sorts: Readonly<Record<string, ShortId['sort']>> = Object.assign(Object.create(null), {
  floor: 'price',
  nitro: 'throughput',
});

/** null where the text has another form, or such ids are not known here. Throws a 400 for a suffix that is not known. */
export function shortIdOf({ openRouter, models }: Snapshot, text: string): ShortId | null {
  const slash = openRouter ? text.indexOf('/') : -1;
  if (slash < 1 || text.includes('/', slash + 1) || slash === text.length - 1 || /^(auto|alias)\//.test(text))
    return null;
  const creator = text.slice(0, slash);
  const colon = text.lastIndexOf(':');
  // A model may have a colon in its name.
  if (colon < slash || models.has(text)) return { creator, model: text.slice(slash + 1), sort: null };
  const sort = sorts[text.slice(colon + 1)] ?? null;
  const rest = sort === null ? text : text.slice(0, colon);
  const inner = rest.lastIndexOf(':');
  if (sort !== null && (inner < slash || models.has(rest))) return { creator, model: rest.slice(slash + 1), sort };
  const suffix = rest.slice(inner + 1);
  const reason = `has the suffix ":${idExcerpt(suffix)}", which is not known here; :floor and :nitro are`;
  throw gatewayError('model_id_shape', { id: idExcerpt(text), reason });
}
