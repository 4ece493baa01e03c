/** OpenAI's shapes as an upstream sends them: whole completions, chunks, and the frames of an ordinary stream. */

export interface UpstreamUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  [detail: string]: unknown;
}

export function usage(promptTokens: number, completionTokens: number, details: object = {}): UpstreamUsage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...details,
  };
}

export interface CompletionOptions {
  content?: string | null;
  /** null leaves it out. */
  usage?: object | null;
  model?: string;
  id?: string;
  finishReason?: string | null;
  /** More fields of the message, such as `tool_calls`. */
  message?: object;
  /** More fields of the body. */
  extra?: object;
}

export function completion(options: CompletionOptions = {}): Record<string, unknown> {
  const {
    content = 'Hello there.',
    model = 'upstream-model',
    id = 'chatcmpl-upstream',
    finishReason = 'stop',
  } = options;
  const figures = options.usage === undefined ? usage(9, 3) : options.usage;
  return {
    id,
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null, ...options.message },
        logprobs: null,
        finish_reason: finishReason,
      },
    ],
    ...(figures !== null && { usage: figures }),
    ...options.extra,
  };
}

export interface ChunkOptions {
  content?: string;
  role?: string;
  /** Replaces the whole delta. */
  delta?: object;
  finishReason?: string | null;
  usage?: object | null;
  model?: string;
  id?: string;
  index?: number;
  /** Replaces the choices, e.g. `[]` for the usage chunk. */
  choices?: unknown[];
  extra?: object;
}

export function chunk(options: ChunkOptions = {}): Record<string, unknown> {
  const { content, role, model = 'upstream-model', id = 'chatcmpl-upstream', finishReason = null, index = 0 } = options;
  const delta = options.delta ?? { ...(role !== undefined && { role }), ...(content !== undefined && { content }) };
  return {
    id,
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model,
    choices: options.choices ?? [{ index, delta, logprobs: null, finish_reason: finishReason }],
    ...(options.usage !== undefined && { usage: options.usage }),
    ...options.extra,
  };
}

export interface StreamOptions {
  model?: string;
  id?: string;
  /** null: no usage chunk. */
  usage?: object | null;
  /** null: no finish chunk. */
  finishReason?: string | null;
  /** Start with a role-only chunk (the default). */
  roleChunk?: boolean;
}

/** The chunks of an ordinary stream: role, one a text, finish, usage. `sse` adds `[DONE]`. */
export function streamOf(texts: readonly string[], options: StreamOptions = {}): Record<string, unknown>[] {
  const { model, id, finishReason = 'stop', roleChunk = true } = options;
  const figures = options.usage === undefined ? usage(9, texts.length) : options.usage;
  const same = { ...(model !== undefined && { model }), ...(id !== undefined && { id }) };
  return [
    ...(roleChunk ? [chunk({ ...same, role: 'assistant', content: '' })] : []),
    ...texts.map((content) => chunk({ ...same, content })),
    ...(finishReason !== null ? [chunk({ ...same, finishReason, delta: {} })] : []),
    ...(figures !== null ? [chunk({ ...same, choices: [], usage: figures })] : []),
  ];
}
