/**
 * How servers of OpenAI's dialect deviate from OpenAI. An accent rewrites an answer, whole or as frames, without changing what it
 * means, so the meaning that an answer was made from is what a client must find. Accents of different groups can be mixed.
 */

// biome-ignore lint/suspicious/noExplicitAny: accents rewrite bodies of any shape
type Json = Record<string, any>;

export interface MeantCall {
  id: string;
  name: string;
  /** Pieces of JSON text; none = the call has no arguments. */
  arguments: string[];
}

/** What a provider means to say. */
export interface Meaning {
  text: string[];
  reasoning: string[];
  refusal: string;
  calls: MeantCall[];
  finish: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  usage: { prompt: number; completion: number; cached: number; reasoning: number };
}

/** An answer on its way to the gateway. Frames without the last `[DONE]`. */
export interface Answer {
  whole: Json;
  frames: Json[];
}

export interface Accent {
  name: string;
  group: 'finish' | 'role' | 'content' | 'reasoning' | 'calls' | 'place' | 'figures' | 'envelope';
  /** Where the accent can be spoken without changing the meaning. */
  fits?(meaning: Meaning): boolean;
  /** Ids of calls are made up by the gateway. */
  losesIds?: boolean;
  speak(answer: Answer, meaning: Meaning): void;
}

export function plainAnswer(meaning: Meaning): Answer {
  const { text, reasoning, refusal, calls, finish } = meaning;
  const content = text.join('');
  const message: Json = {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    refusal: refusal === '' ? null : refusal,
  };
  if (reasoning.length > 0) message.reasoning_content = reasoning.join('');
  if (calls.length > 0) {
    message.tool_calls = calls.map(({ id, name, arguments: pieces }) => ({
      id,
      type: 'function',
      function: { name, arguments: pieces.join('') },
    }));
  }
  const head = { id: 'up-1', created: 1_700_000_000, model: 'upstream-model' };
  const usage = plainUsage(meaning);
  const deltas: Json[] = [
    { role: 'assistant', content: '' },
    ...reasoning.map((piece) => ({ reasoning_content: piece })),
    ...text.map((piece) => ({ content: piece })),
    ...(refusal === '' ? [] : [{ refusal }]),
    ...calls.flatMap(({ id, name, arguments: pieces }, index) => [
      { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
      ...pieces.map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ];
  const frame = (choices: Json[], more: Json = {}): Json => ({
    ...head,
    object: 'chat.completion.chunk',
    choices,
    ...more,
  });
  return {
    whole: {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
      usage,
    },
    frames: [
      ...deltas.map((delta) => frame([{ index: 0, delta, logprobs: null, finish_reason: null }])),
      frame([{ index: 0, delta: {}, logprobs: null, finish_reason: finish }]),
      frame([], { usage }),
    ],
  };
}

function plainUsage({ usage: { prompt, completion, cached, reasoning } }: Meaning): Json {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

const choicesOf = ({ frames }: Answer): Json[] => frames.flatMap(({ choices }) => (choices ?? []) as Json[]);
const messageOf = ({ whole }: Answer): Json => whole.choices[0].message;
const deltasOf = (answer: Answer): Json[] => choicesOf(answer).map(({ delta }) => delta);
const piecesOf = (answer: Answer): Json[] => deltasOf(answer).flatMap(({ tool_calls }) => tool_calls ?? []);
const callsOf = (answer: Answer): Json[] => messageOf(answer).tool_calls ?? [];
const endsByItself = ({ finish, calls }: Meaning) => finish === (calls.length > 0 ? 'tool_calls' : 'stop');
const hasCalls = ({ calls }: Meaning) => calls.length > 0;
const hasReasoning = ({ reasoning }: Meaning) => reasoning.length > 0;

/** The same change to the message and to every delta. */
function everyMessage(change: (message: Json) => void): Accent['speak'] {
  return (answer) => {
    for (const message of [messageOf(answer), ...deltasOf(answer)]) change(message);
  };
}

/** The same change to every choice, whole and streamed. */
function everyChoice(change: (choice: Json) => void): Accent['speak'] {
  return (answer) => {
    for (const choice of [...answer.whole.choices, ...choicesOf(answer)]) change(choice);
  };
}

/** The same change to every call and every piece of one. */
function everyCall(change: (call: Json, isFirst: boolean) => void): Accent['speak'] {
  return (answer) => {
    for (const call of callsOf(answer)) change(call, true);
    for (const piece of piecesOf(answer)) change(piece, piece.id !== undefined);
  };
}

/** Another way to write the usage, whole and streamed. */
function figures(name: string, write: (meaning: Meaning) => Json, fits?: Accent['fits']): Accent {
  return {
    name: `usage with ${name}`,
    group: 'figures',
    fits,
    speak: (answer, meaning) => {
      answer.whole.usage = write(meaning);
      answer.frames.at(-1)!.usage = write(meaning);
    },
  };
}

/** Takes the usage out of its own frame, for accents that put it elsewhere. */
function takeUsage({ frames }: Answer): unknown {
  return frames.pop()!.usage;
}

const words: Record<Meaning['finish'], string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'SAFETY',
};

const finishAccents: Accent[] = [
  {
    name: 'no finish_reason at all',
    group: 'finish',
    fits: endsByItself,
    speak: everyChoice((choice) => delete choice.finish_reason),
  },
  {
    name: 'an empty finish_reason throughout',
    group: 'finish',
    fits: endsByItself,
    speak: everyChoice((choice) => {
      choice.finish_reason = '';
    }),
  },
  {
    name: 'an empty finish_reason until the end',
    group: 'finish',
    speak: (answer) => {
      for (const choice of choicesOf(answer)) choice.finish_reason ??= '';
    },
  },
  {
    name: 'the word "null" for no finish_reason',
    group: 'finish',
    speak: (answer) => {
      for (const choice of choicesOf(answer)) choice.finish_reason ??= 'null';
    },
  },
  {
    name: 'a finish_reason only where there is one',
    group: 'finish',
    speak: (answer) => {
      for (const choice of choicesOf(answer)) if (choice.finish_reason === null) delete choice.finish_reason;
    },
  },
  {
    name: 'words of its own for reasons to finish',
    group: 'finish',
    speak: everyChoice((choice) => {
      if (choice.finish_reason) choice.finish_reason = words[choice.finish_reason as Meaning['finish']];
    }),
  },
];

const roleAccents: Accent[] = [
  { name: 'no role', group: 'role', speak: everyMessage((message) => delete message.role) },
  ...[null, '', 'model'].map(
    (role): Accent => ({
      name: `the role ${JSON.stringify(role)}`,
      group: 'role',
      speak: everyMessage((message) => {
        message.role = role;
      }),
    }),
  ),
];

const contentAccents: Accent[] = [
  {
    name: 'content as a list of text parts',
    group: 'content',
    speak: everyMessage((message) => {
      if (message.content) message.content = [{ type: 'text', text: message.content }];
    }),
  },
  {
    name: 'content as a list with references',
    group: 'content',
    speak: everyMessage((message) => {
      const reference = { type: 'reference', reference_ids: [1] };
      if (message.content) message.content = [reference, { type: 'text', text: message.content }];
    }),
  },
  {
    name: 'content as a list of strings',
    group: 'content',
    speak: everyMessage((message) => {
      if (message.content) message.content = [message.content];
    }),
  },
  {
    name: 'no content where there is none',
    group: 'content',
    speak: everyMessage((message) => {
      if (!message.content) delete message.content;
    }),
  },
  {
    name: 'null for content where there is none',
    group: 'content',
    speak: everyMessage((message) => {
      message.content = message.content || null;
    }),
  },
  {
    name: 'empty placeholders in every message',
    group: 'content',
    speak: everyMessage((message) => {
      message.function_call = { name: '', arguments: '' };
      message.audio = { id: '', data: '', transcript: '', expires_at: 0 };
      message.annotations = null;
    }),
  },
];

/** Reasoning is moved from `reasoning_content` to wherever an accent has it. */
function movedReasoning(name: string, put: (message: Json, reasoning: string) => void): Accent {
  return {
    name: `reasoning ${name}`,
    group: 'reasoning',
    fits: hasReasoning,
    speak: everyMessage((message) => {
      const { reasoning_content: reasoning } = message;
      delete message.reasoning_content;
      if (reasoning) put(message, reasoning);
    }),
  };
}

const reasoningAccents: Accent[] = [
  movedReasoning('under `reasoning`', (message, text) => {
    message.reasoning = text;
  }),
  movedReasoning('under both names', (message, text) =>
    Object.assign(message, { reasoning: text, reasoning_content: text }),
  ),
  movedReasoning('under `reasoning`, with an empty `reasoning_content`', (message, text) =>
    Object.assign(message, { reasoning: text, reasoning_content: '' }),
  ),
  movedReasoning('under `thinking`', (message, text) => {
    message.thinking = text;
  }),
  movedReasoning('in `reasoning_details` alone', (message, text) => {
    message.reasoning_details = [{ type: 'reasoning.text', text, index: 0 }];
  }),
  movedReasoning('under both `reasoning` and `reasoning_details`', (message, text) => {
    message.reasoning = text;
    message.reasoning_details = [{ type: 'reasoning.text', text, index: 0 }];
  }),
  movedReasoning('as a thinking part of the content', (message, text) => {
    message.content = [
      { type: 'thinking', thinking: [{ type: 'text', text }], closed: true },
      ...(message.content ? [{ type: 'text', text: message.content }] : []),
    ];
  }),
  movedReasoning('as a reasoning part with a summary', (message, text) => {
    message.content = [
      { type: 'reasoning', summary: [{ type: 'summary_text', text }] },
      ...(message.content ? [{ type: 'text', text: message.content }] : []),
    ];
  }),
];

const callAccents: Accent[] = [
  { name: 'calls without a type', group: 'calls', fits: hasCalls, speak: everyCall((call) => delete call.type) },
  {
    name: 'calls with an empty id',
    group: 'calls',
    fits: hasCalls,
    losesIds: true,
    speak: everyCall((call) => {
      call.id = '';
    }),
  },
  {
    name: 'calls without an id',
    group: 'calls',
    fits: hasCalls,
    losesIds: true,
    speak: everyCall((call) => delete call.id),
  },
  { name: 'calls without an index', group: 'calls', fits: hasCalls, speak: everyCall((call) => delete call.index) },
  {
    name: 'calls counted from 1',
    group: 'calls',
    fits: hasCalls,
    speak: (answer) => {
      for (const piece of piecesOf(answer)) piece.index++;
    },
  },
  {
    name: 'calls counted in text',
    group: 'calls',
    fits: hasCalls,
    speak: (answer) => {
      for (const piece of piecesOf(answer)) piece.index = String(piece.index);
    },
  },
  {
    name: 'parallel calls that all have the index 0',
    group: 'calls',
    fits: hasCalls,
    speak: (answer) => {
      for (const piece of piecesOf(answer)) piece.index = 0;
    },
  },
  {
    name: 'an empty id and name in every later piece',
    group: 'calls',
    fits: hasCalls,
    speak: (answer) => {
      for (const piece of piecesOf(answer)) {
        if (piece.id !== undefined) continue;
        Object.assign(piece, { id: '', type: 'function' });
        piece.function.name = '';
      }
    },
  },
  {
    name: 'the id and the name in every piece',
    group: 'calls',
    fits: hasCalls,
    speak: (answer, { calls }) => {
      for (const piece of piecesOf(answer)) {
        const { id, name } = calls[piece.index]!;
        Object.assign(piece, { id, type: 'function' });
        piece.function.name = name;
      }
    },
  },
  {
    name: 'arguments as an object, in one piece',
    group: 'calls',
    fits: hasCalls,
    speak: (answer, { calls }) => {
      const parsedArguments = (pieces: string[]) => JSON.parse(pieces.join('') || '{}');
      callsOf(answer).forEach((call, at) => {
        call.function.arguments = parsedArguments(calls[at]!.arguments);
      });
      for (const piece of piecesOf(answer)) {
        if (piece.id !== undefined) piece.function.arguments = parsedArguments(calls[piece.index]!.arguments);
        else delete piece.function.arguments;
      }
    },
  },
  {
    name: 'no arguments where there are none',
    group: 'calls',
    fits: hasCalls,
    speak: everyCall((call) => {
      if (call.function.arguments === '') delete call.function.arguments;
    }),
  },
  {
    name: 'null for arguments where there are none',
    group: 'calls',
    fits: hasCalls,
    speak: everyCall((call) => {
      call.function.arguments = call.function.arguments || null;
    }),
  },
  {
    name: 'calls without the object around name and arguments',
    group: 'calls',
    fits: hasCalls,
    speak: everyCall((call) => {
      Object.assign(call, call.function);
      delete call.function;
    }),
  },
  {
    name: 'null for the calls of every other message',
    group: 'calls',
    speak: everyMessage((message) => {
      message.tool_calls ??= null;
    }),
  },
];

const placeAccents: Accent[] = [
  {
    name: 'usage in the last frame of content',
    group: 'place',
    speak: (answer) => {
      const usage = takeUsage(answer);
      answer.frames.at(-1)!.usage = usage;
    },
  },
  {
    name: 'usage inside the choice',
    group: 'place',
    speak: (answer) => {
      const usage = takeUsage(answer);
      answer.frames.at(-1)!.choices[0].usage = usage;
    },
  },
  {
    name: 'usage in `x_groq`',
    group: 'place',
    speak: (answer) => {
      const usage = takeUsage(answer);
      answer.frames.at(-1)!.x_groq = { id: 'req_1', usage };
    },
  },
  {
    name: 'usage that grows with every frame',
    group: 'place',
    speak: ({ frames }) => {
      for (const [at, frame] of frames.entries()) {
        frame.usage ??= { prompt_tokens: 1, completion_tokens: at, total_tokens: at + 1 };
      }
    },
  },
  {
    name: '`usage: null` in every other frame',
    group: 'place',
    speak: ({ frames }) => {
      for (const frame of frames) frame.usage ??= null;
    },
  },
  {
    name: 'an empty usage after the real one',
    group: 'place',
    speak: ({ frames }) => {
      frames.push({ choices: [], usage: {} });
    },
  },
  ...[undefined, null].map(
    (choices): Accent => ({
      name: `a usage frame with ${choices === null ? '`choices: null`' : 'no choices member'}`,
      group: 'place',
      speak: ({ frames }) => {
        frames.at(-1)!.choices = choices;
      },
    }),
  ),
];

const totalOf = ({ usage: { prompt, completion } }: Meaning) => prompt + completion;
const details = ({ usage: { cached, reasoning } }: Meaning) => ({
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: reasoning },
});

const figureAccents: Accent[] = [
  figures('`cached_tokens` outside of the details', (meaning) => ({
    ...plainUsage(meaning),
    prompt_tokens_details: undefined,
    cached_tokens: meaning.usage.cached,
  })),
  figures('`prompt_cache_hit_tokens`', (meaning) => ({
    ...plainUsage(meaning),
    prompt_tokens_details: null,
    prompt_cache_hit_tokens: meaning.usage.cached,
    prompt_cache_miss_tokens: meaning.usage.prompt - meaning.usage.cached,
  })),
  figures('reasoning outside of the completion', (meaning) => ({
    ...plainUsage(meaning),
    completion_tokens: meaning.usage.completion - meaning.usage.reasoning,
  })),
  figures(
    'audio outside of the prompt',
    (meaning) => ({
      ...plainUsage(meaning),
      prompt_tokens: meaning.usage.prompt - 1,
      prompt_tokens_details: { audio_tokens: 1, cached_tokens: meaning.usage.cached },
    }),
    ({ usage: { prompt, cached, reasoning } }) => prompt > cached && reasoning !== 1,
  ),
  figures('audio and images in the prompt', (meaning) => ({
    ...plainUsage(meaning),
    prompt_tokens_details: { audio_tokens: 1, image_tokens: 1, video_tokens: 0, cached_tokens: meaning.usage.cached },
  })),
  figures('no completion tokens', (meaning) => ({
    prompt_tokens: meaning.usage.prompt,
    total_tokens: totalOf(meaning),
    ...details(meaning),
  })),
  figures('no prompt tokens', (meaning) => ({
    completion_tokens: meaning.usage.completion,
    total_tokens: totalOf(meaning),
    ...details(meaning),
  })),
  figures('no total', (meaning) => ({ ...plainUsage(meaning), total_tokens: undefined })),
  figures('the names of OpenAI\u2019s other API', ({ usage: { prompt, completion, cached, reasoning } }) => ({
    input_tokens: prompt,
    output_tokens: completion,
    total_tokens: prompt + completion,
    input_tokens_details: { cached_tokens: cached },
    output_tokens_details: { reasoning_tokens: reasoning },
  })),
  figures(
    'a total that is unexplained',
    (meaning) => ({
      ...plainUsage(meaning),
      total_tokens: totalOf(meaning) + 1_000_000,
      completion_tokens: meaning.usage.completion - meaning.usage.reasoning,
    }),
    ({ usage: { reasoning } }) => reasoning > 0,
  ),
  figures('figures that are no tokens', (meaning) => ({
    ...plainUsage(meaning),
    cost: { total_cost: 0.01 },
    queue_time: 0.25,
    num_sources_used: -1,
    service_tier: '',
  })),
];

const envelopeAccents: Accent[] = [
  {
    name: 'no id, object, created or model',
    group: 'envelope',
    speak: ({ whole, frames }) => {
      for (const body of [whole, ...frames]) for (const name of ['id', 'object', 'created', 'model']) delete body[name];
    },
  },
  {
    name: 'an empty id, object and model, and a fraction of a second',
    group: 'envelope',
    speak: ({ whole, frames }) => {
      for (const body of [whole, ...frames]) Object.assign(body, { id: '', object: '', model: '', created: 17.25 });
    },
  },
  {
    name: 'choices without an index',
    group: 'envelope',
    speak: everyChoice((choice) => delete choice.index),
  },
  {
    name: '`delta: null` where nothing is new',
    group: 'envelope',
    speak: (answer) => {
      for (const choice of choicesOf(answer)) if (Object.keys(choice.delta).length === 0) choice.delta = null;
    },
  },
  {
    name: 'the whole message beside every delta',
    group: 'envelope',
    speak: (answer) => {
      let content = '';
      for (const choice of choicesOf(answer)) {
        if (typeof choice.delta?.content === 'string') content += choice.delta.content;
        choice.message = { role: 'assistant', content };
      }
      answer.whole.choices[0].delta = { role: 'assistant', content: '' };
    },
  },
  {
    name: 'findings of a content filter',
    group: 'envelope',
    speak: ({ frames }) => {
      const filtered = { hate: { filtered: false, severity: 'safe' } };
      frames.unshift({ id: '', object: '', model: '', created: 0, choices: [], prompt_filter_results: [filtered] });
      frames.splice(-2, 0, { id: '', choices: [{ index: 0, finish_reason: null, content_filter_results: filtered }] });
    },
  },
  {
    name: 'an empty error in every body',
    group: 'envelope',
    speak: ({ whole, frames }) => {
      for (const body of [whole, ...frames]) body.error = {};
    },
  },
];

export const accents: readonly Accent[] = [
  ...finishAccents,
  ...roleAccents,
  ...contentAccents,
  ...reasoningAccents,
  ...callAccents,
  ...placeAccents,
  ...figureAccents,
  ...envelopeAccents,
];
