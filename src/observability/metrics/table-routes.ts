/** The metrics of routes: what was tried, what was served, and how each of them fares. Route ids come from the catalogue. */
import { counter, gauge, histogram } from './definition.js';
import { answerBounds } from './table-requests.js';

export const routeMetrics = {
  lodestone_served_total: counter(
    'Answers that a route has begun to give, by how they ended.',
    'route',
    'stream',
    'end',
  ),
  lodestone_attempts_total: counter('Attempts on a route, by outcome.', 'route', 'outcome'),
  lodestone_attempt_first_byte_seconds: histogram(
    answerBounds,
    'From the dispatch of an attempt to the first byte of the upstream.',
    'route',
  ),
  lodestone_attempt_duration_seconds: histogram(
    answerBounds,
    'From the dispatch of an attempt to its end, whatever that was.',
    'route',
  ),
  lodestone_tokens_total: counter(
    'Tokens billed; cached ones are a part of the prompt, reasoning ones of the completion.',
    'route',
    'kind',
  ),
  lodestone_usage_oddities_total: counter(
    'Answers whose usage was billed though it was odd: prompt audio without a price, more cached tokens than prompt tokens, a total that its parts do not explain, more tokens than the context window.',
    'route',
    'oddity',
  ),
  lodestone_cost_usd_total: counter('US dollars billed.', 'route'),
  lodestone_route_breaker_state: gauge(
    'max',
    'The route’s circuit breaker: 0 closed, 1 half-open, 2 open.',
    'route',
    'model',
  ),
  lodestone_route_held: gauge('max', '1 while the route is quota-held, until midnight UTC.', 'route', 'model'),
  lodestone_route_available: gauge(
    'max',
    'Of routes with a price and a credential: 1 where an auto/ request may try the route now.',
    'route',
    'model',
  ),
  lodestone_route_recent_first_byte_seconds: gauge('max', 'The smoothed first byte that ranking uses.', 'route'),
  lodestone_route_recent_error_ratio: gauge(
    'max',
    'Share of the attempts of the last five minutes that failed.',
    'route',
  ),
};
