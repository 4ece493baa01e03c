/** The order in which the ranked routes of an `auto/` id are tried. A real request and its dry run share it. */
import type { Route } from '../../catalogue/route.js';
import { applyOrder, type RequestPreferences } from '../../policy/request-preferences.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import type { Stay } from '../stay.js';
import { stayFirst } from '../sticky.js';
import { wholeFirst } from './obstacles.js';

interface Ordering {
  readonly request: ChatRequest;
  readonly preferences: RequestPreferences | null;
  readonly stay: Stay | null;
}

/** The route of the conversation first, else those that the request names, then by rank. */
export function orderCandidates(ranked: readonly Route[], { request, preferences, stay }: Ordering): readonly Route[] {
  const ordered = preferences === null ? ranked : applyOrder(ranked, preferences.order);
  const tried = wholeFirst(stayFirst(ordered, stay, preferences), request);
  // A route that leaves a part of the request out is not stayed with while another one does not.
  if (stay !== null && stay.first !== null && tried[0] !== stay.first) stay.first = null;
  return tried;
}
