/**
 * How servers of OpenAI's dialect deviate from OpenAI. An accent rewrites an answer, whole or as frames, without changing what it
 * means, so the meaning that an answer was made from is what a client must find. Accents of different groups can be mixed.
 */

// biome-ignore lint/suspicious/noExplicitAny: accents rewrite bodies of any shape
export type Json = Record<string, any>;

interface MeantCall {
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

export function plainUsage({ usage: { prompt, completion, cached, reasoning } }: Meaning): Json {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

export const choicesOf = ({ frames }: Answer): Json[] => frames.flatMap(({ choices }) => (choices ?? []) as Json[]);
const messageOf = ({ whole }: Answer): Json => whole.choices[0].message;
const deltasOf = (answer: Answer): Json[] => choicesOf(answer).map(({ delta }) => delta);
export const piecesOf = (answer: Answer): Json[] => deltasOf(answer).flatMap(({ tool_calls }) => tool_calls ?? []);
export const callsOf = (answer: Answer): Json[] => messageOf(answer).tool_calls ?? [];
export const endsByItself = ({ finish, calls }: Meaning) => finish === (calls.length > 0 ? 'tool_calls' : 'stop');
export const hasCalls = ({ calls }: Meaning) => calls.length > 0;
export const hasReasoning = ({ reasoning }: Meaning) => reasoning.length > 0;

/** The same change to the message and to every delta. */
export function everyMessage(change: (message: Json) => void): Accent['speak'] {
  return (answer) => {
    for (const message of [messageOf(answer), ...deltasOf(answer)]) change(message);
  };
}

/** The same change to every choice, whole and streamed. */
export function everyChoice(change: (choice: Json) => void): Accent['speak'] {
  return (answer) => {
    for (const choice of [...answer.whole.choices, ...choicesOf(answer)]) change(choice);
  };
}

/** The same change to every call and every piece of one. */
export function everyCall(change: (call: Json, isFirst: boolean) => void): Accent['speak'] {
  return (answer) => {
    for (const call of callsOf(answer)) change(call, true);
    for (const piece of piecesOf(answer)) change(piece, piece.id !== undefined);
  };
}
