/** Sends one chat request, streamed or not, and measures the times that a client sees. */
import { type ApiError, isApiError, send } from '../../api/client.js';

export interface Receipt {
  requested_model: string;
  served_model: string;
  provider: string;
  locode: string;
  country: string | null;
  providers_attempted: string[];
  fallback_occurred: boolean;
  breaker_skipped: string[];
  alias: string | null;
  carbon: number | null;
  cloud_act: boolean | null;
  stream_end?: string;
}

interface ChatUsage {
  prompt_tokens: number;
  completion_tokens: number;
  cost: number;
}

export interface ChatResult {
  generationId: string | null;
  receipt: Receipt | null;
  usage: ChatUsage | null;
  finishReason: string | null;
  firstByteMs: number | null;
  totalMs: number;
  overheadMs: number | null;
  /** An error frame after the stream began. */
  streamError: string | null;
}

export interface ChatRequest {
  model: string;
  messages: { role: string; content: string }[];
  stream: boolean;
  temperature?: number;
  max_tokens?: number;
}

interface Frame {
  choices?: {
    delta?: { content?: string | null };
    message?: { content?: string | null };
    finish_reason?: string | null;
  }[];
  usage?: ChatUsage | null;
  router_metadata?: Receipt;
  error?: { message?: string };
}

export interface ChatOptions {
  signal: AbortSignal;
  onText: (text: string) => void;
}

export async function chat(request: ChatRequest, { signal, onText }: ChatOptions): Promise<ChatResult> {
  const startedAt = performance.now();
  const answer = await send('playground/chat', {
    method: 'POST',
    body: { ...request, ...(request.stream && { stream_options: { include_usage: true } }) },
    signal,
  });
  const result: ChatResult = {
    generationId: answer.headers.get('x-generation-id'),
    overheadMs: headerNumber(answer, 'x-router-overhead-ms'),
    ...{ receipt: null, usage: null, finishReason: null, firstByteMs: null, totalMs: 0, streamError: null },
  };
  const take = (frame: Frame) => {
    const [choice] = frame.choices ?? [];
    const text = choice?.delta?.content ?? choice?.message?.content;
    result.firstByteMs ??= performance.now() - startedAt;
    result.receipt = frame.router_metadata ?? result.receipt;
    result.usage = frame.usage ?? result.usage;
    result.finishReason = choice?.finish_reason ?? result.finishReason;
    result.streamError = frame.error?.message ?? result.streamError;
    if (text) onText(text);
  };
  if (request.stream && answer.body) for await (const frame of frames(answer.body)) take(frame);
  else take((await answer.json()) as Frame);
  result.totalMs = performance.now() - startedAt;
  return result;
}

/** Yields the JSON of each `data:` line, without `[DONE]` and comments. */
async function* frames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data: {')) yield JSON.parse(line.slice('data: '.length)) as Frame;
    }
  }
}

function headerNumber(answer: Response, name: string): number | null {
  const text = answer.headers.get(name);
  return text === null ? null : Number(text);
}

/** The routing receipt in the error of a failed `auto/` request. */
export function failureReceipt(
  error: unknown,
): { error: ApiError; attempted: string[]; remaining: number | null } | null {
  if (!isApiError(error)) return null;
  const { providers_attempted: attempted, candidates_remaining: remaining } = error.body;
  return {
    error,
    attempted: Array.isArray(attempted) ? attempted.map(String) : [],
    remaining: typeof remaining === 'number' ? remaining : null,
  };
}

/** Exact: a cost is a whole number of pico-dollars, which a float holds exactly up to several thousand dollars. */
export const costText = (cost: number) => cost.toFixed(12);
