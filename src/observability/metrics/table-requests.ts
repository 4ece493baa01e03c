/** The metrics of requests: what became of them, how long they took, what they cost. */
import { counter, gauge, histogram } from './definition.js';

/** Seconds; the last ones are budgets of part 8 of the specification. */
export const answerBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 90, 150, 300];
/** Seconds of our own work, which are thousandths. */
export const overheadBounds = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

export const requestMetrics = {
  lodestone_requests_total: counter(
    'Requests that were answered or given up, by endpoint and outcome.',
    'endpoint',
    'outcome',
  ),
  lodestone_errors_total: counter(
    'Errors that callers were given, by the row of the error table.',
    'condition',
    'code',
    'status',
  ),
  lodestone_limit_refusals_total: counter('Requests that a rate limit refused, by limit.', 'limit'),
  lodestone_request_body_bytes_total: counter('Bytes of the bodies of chat requests.'),
  lodestone_chat_duration_seconds: histogram(
    answerBounds,
    'From the arrival of a chat request to the end of its answer.',
    'stream',
    'outcome',
  ),
  lodestone_chat_first_byte_seconds: histogram(
    answerBounds,
    'From the arrival of a chat request to the first byte of its 200.',
    'stream',
  ),
  lodestone_chat_overhead_seconds: histogram(
    overheadBounds,
    'Time that a chat request spent in Lodestone itself, until its 200 began; the figure of x-router-overhead-ms.',
    'stream',
  ),
  lodestone_chat_fallbacks_total: counter('Answers that the first route attempted did not give.'),
  lodestone_running_chats: gauge('sum', 'Chat requests that are not over.'),
  lodestone_open_streams: gauge('sum', 'Streams that have begun and not ended.'),
};
