/** Calls the gateway at /dashboard/api/ with the session cookie, and throws its errors as `ApiError`. */

export interface ApiErrorFields {
  status: number;
  code: string | null;
  param: string | null;
  retryAfterSeconds: number | null;
  requestId: string | null;
  /** The error object of the response, with the routing details if there are any. */
  body: Record<string, unknown>;
}

export class ApiError extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;
  readonly requestId: string | null;
  readonly body: Record<string, unknown>;

  constructor(message: string, fields: ApiErrorFields) {
    super(message);
    this.name = 'ApiError';
    this.status = fields.status;
    this.code = fields.code;
    this.param = fields.param;
    this.retryAfterSeconds = fields.retryAfterSeconds;
    this.requestId = fields.requestId;
    this.body = fields.body;
  }
}

export const isApiError = (error: unknown): error is ApiError => error instanceof ApiError;

export const apiBase = '/dashboard/api/';

/** Called once when a response shows that the session has ended. */
let onSessionEnd = () => {};
export function whenSessionEnds(listener: () => void): void {
  onSessionEnd = listener;
}

export interface SendOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  body?: unknown;
  signal?: AbortSignal;
  /** Another account than the last one. */
  account?: string;
}

/** Returns the response itself, for streams; throws errors. */
export async function send(
  path: string,
  { method = 'GET', body, signal, account }: SendOptions = {},
): Promise<Response> {
  const answer = await reach(path, {
    method,
    // Custom headers cannot be sent by a form of another site: the server's guard against forged requests.
    headers: {
      'x-lodestone-dashboard': '1',
      ...(account !== undefined && { 'x-lodestone-account': account }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  if (answer.ok) return answer;
  const error = await errorOf(answer);
  if (error.code === 'session_required') onSessionEnd();
  throw error;
}

/** The JSON of the answer; undefined for 204. */
export async function api<T>(path: string, options?: SendOptions): Promise<T> {
  const answer = await send(path, options);
  return answer.status === 204 ? (undefined as T) : ((await answer.json()) as T);
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(apiBase + path, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError('The gateway cannot be reached. Check your connection and try again.', {
      ...{ status: 0, code: 'unreachable', param: null, retryAfterSeconds: null, requestId: null, body: {} },
    });
  }
}

async function errorOf(answer: Response): Promise<ApiError> {
  const body = await envelopeOf(answer);
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  return new ApiError(text(body.message) ?? `The gateway answered with status ${answer.status}.`, {
    status: answer.status,
    code: text(body.code),
    param: text(body.param),
    retryAfterSeconds: Number(answer.headers.get('retry-after')) || null,
    requestId: answer.headers.get('x-request-id'),
    body,
  });
}

async function envelopeOf(answer: Response): Promise<Record<string, unknown>> {
  try {
    const json = (await answer.json()) as { error?: Record<string, unknown> };
    return json.error ?? {};
  } catch {
    return {};
  }
}

/** `?a=1&b=2`, without empty values. */
export function query(values: Record<string, string | number | undefined | null>): string {
  const set = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return set.length === 0 ? '' : `?${new URLSearchParams(set.map(([name, value]) => [name, String(value)]))}`;
}
