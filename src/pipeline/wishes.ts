/** What a request asks of its routes: by its own `provider` object, and by the name of the operator that it asks for. */
import type { ModelName } from '../catalogue/model-name.js';
import type { Snapshot } from '../catalogue/route.js';
import { shortIdOf } from '../catalogue/short-id.js';
import { bothPreferences, type RequestPreferences, readPreferences } from '../policy/request-preferences.js';
import type { ChatRequest } from '../wire/chat-request.js';

const noWishes: RequestPreferences = { sent: null, gates: [], order: [], single: false, prefer: null, sticky: true };
const ofNames = new WeakMap<ModelName, RequestPreferences | null>();

export function wishesOf(
  { model, provider, name }: Pick<ChatRequest, 'model' | 'provider' | 'name'>,
  snapshot: Snapshot,
): RequestPreferences | null {
  const own = provider === undefined ? null : readPreferences(provider, snapshot);
  if (snapshot.openRouter && name === undefined) {
    const sort = shortIdOf(snapshot, model)?.sort ?? null;
    return sort === null ? own : bothPreferences({ ...noWishes, prefer: sort }, own);
  }
  return name === undefined || name.provider === null ? own : bothPreferences(wishesOfName(name), own);
}

/** A provider that has left the catalogue since makes no request of the name a faulty one. */
function wishesOfName(name: ModelName): RequestPreferences | null {
  let wishes = ofNames.get(name);
  if (wishes === undefined) {
    wishes = readPreferences(name.provider, null);
    ofNames.set(name, wishes);
  }
  return wishes;
}
