/** A model that works through a fixed list of steps, in each API that a provider may speak. How many results of tools it has got says which step is next. */
import {
  chunk,
  completion,
  json,
  type Script,
  sse,
  type UpstreamCallLog,
  usage,
} from '../support/scripted-upstream.js';

interface ToolCall {
  readonly name: string;
  readonly input: Record<string, unknown>;
}

/** Calls of tools, or the last text. */
export type Step = readonly ToolCall[] | string;

export interface ScriptedModel {
  /** What came back from the tools, by the id of the call (`idOf`). */
  readonly results: Record<string, string>;
  /** Answers so far, without those to requests that offer no tools. */
  readonly turns: number;
  /** The answer to a call of the agent. */
  answer(call: UpstreamCallLog): Script;
}

type Api = 'chat' | 'messages' | 'responses';
type Fields = Record<string, unknown>;

/** The id of a call, by its step and its place in it. */
const idOf = (step: number, at: number) => `call_${step}_${at}`;

export function scriptedModel(api: Api, steps: readonly Step[]): ScriptedModel {
  const results: Record<string, string> = {};
  let turns = 0;
  return {
    results,
    get turns() {
      return turns;
    },
    answer(call) {
      const body = call.json as Fields;
      // Anthropic's tool runner tries threads first, and does without them where the provider says that it keeps none.
      if (body.thread !== undefined) return json(noThreads, { status: 400 });
      const write = (step: Step, at: number) =>
        body.stream ? sse(framesOf[api](step, at), { noDone: api !== 'chat' }) : json(wholeOf[api](step, at));
      // Claude Code asks for a title of the session beside its work.
      if (body.tools === undefined || (body.tools as unknown[]).length === 0) return write('{"title":"Greeting"}', 0);
      turns++;
      const found = resultsIn[api](body);
      for (const [id, text] of found) results[String(id)] = text;
      // Each step waits for the results of all calls before it.
      let before = 0;
      const at = steps.findIndex((step) => {
        if (before === found.length) return true;
        before += typeof step === 'string' ? 0 : step.length;
        return false;
      });
      const step = steps[at];
      if (step === undefined) throw new Error(`There is no step after ${found.length} results`);
      return write(step, at);
    },
  };
}

const noThreads = {
  type: 'error',
  error: {
    type: 'invalid_request_error',
    message: 'thread: this model keeps no threads',
    details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  },
};

/** A result that is an array of parts, as one text. */
const textOf = (content: unknown): string => (typeof content === 'string' ? content : JSON.stringify(content));

const resultsIn: Record<Api, (body: Fields) => (readonly [id: unknown, text: string])[]> = {
  chat: ({ messages }) =>
    (messages as Fields[])
      .filter(({ role }) => role === 'tool')
      .map(({ tool_call_id, content }) => [tool_call_id, textOf(content)]),
  messages: ({ messages }) =>
    (messages as Fields[])
      .flatMap(({ content }) => (Array.isArray(content) ? (content as Fields[]) : []))
      .filter(({ type }) => type === 'tool_result')
      .map(({ tool_use_id, content }) => [tool_use_id, textOf(content)]),
  responses: ({ input }) =>
    (input as Fields[])
      .filter(({ type }) => type === 'function_call_output')
      .map(({ call_id, output }) => [call_id, textOf(output)]),
};

/** An answer that is not streamed. */
const wholeOf: Record<Api, (step: Step, at: number) => Fields> = {
  chat(step, at) {
    if (typeof step === 'string') return completion({ content: step, usage: usage(1_000, 10) });
    const tool_calls = step.map(({ name, input }, index) => ({
      ...{ id: idOf(at, index), type: 'function', function: { name, arguments: JSON.stringify(input) } },
    }));
    return completion({ content: null, finishReason: 'tool_calls', message: { tool_calls }, usage: usage(1_000, 10) });
  },
  messages(step, at) {
    const content =
      typeof step === 'string'
        ? [{ type: 'text', text: step }]
        : [
            { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' },
            ...step.map(({ name, input }, index) => ({ type: 'tool_use', id: idOf(at, index), name, input })),
          ];
    return {
      ...{ id: `msg_${at}`, type: 'message', role: 'assistant', model: 'upstream-model', content, stop_sequence: null },
      stop_reason: typeof step === 'string' ? 'end_turn' : 'tool_use',
      usage: { input_tokens: 1_000, output_tokens: 10 },
    };
  },
  responses: (step, at) => (framesOf.responses(step, at).at(-1) as { response: Fields }).response,
};

/** Half of a text and the other half, because arguments come in pieces. */
const halves = (text: string) => [text.slice(0, text.length / 2), text.slice(text.length / 2)];

const framesOf: Record<Api, (step: Step, at: number) => unknown[]> = {
  chat(step, at) {
    const end = [
      chunk({ delta: {}, finishReason: typeof step === 'string' ? 'stop' : 'tool_calls' }),
      chunk({ choices: [], usage: usage(1_000, 10) }),
    ];
    if (typeof step === 'string') return [...halves(step).map((content) => chunk({ content })), ...end];
    const calls = step.flatMap(({ name, input }, index) => [
      chunk({
        delta: {
          tool_calls: [{ index, id: idOf(at, index), type: 'function', function: { name, arguments: '' } }],
        },
      }),
      ...halves(JSON.stringify(input)).map((text) =>
        chunk({ delta: { tool_calls: [{ index, function: { arguments: text } }] } }),
      ),
    ]);
    return [chunk({ delta: { role: 'assistant', reasoning_content: 'Hm.' } }), ...calls, ...end];
  },

  messages(step, at) {
    const head = { id: `msg_${at}`, type: 'message', role: 'assistant', model: 'upstream-model', content: [] };
    const start = { ...head, stop_reason: null, stop_sequence: null, usage: { input_tokens: 1_000, output_tokens: 1 } };
    const block = (index: number, content_block: Fields, deltas: readonly Fields[]) => [
      { type: 'content_block_start', index, content_block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
    const blocks =
      typeof step === 'string'
        ? block(
            0,
            { type: 'text', text: '' },
            halves(step).map((text) => ({ type: 'text_delta', text })),
          )
        : [
            ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
              { type: 'thinking_delta', thinking: 'Hm.' },
              { type: 'signature_delta', signature: 'c2lnbmVk' },
            ]),
            ...step.flatMap(({ name, input }, index) =>
              block(
                index + 1,
                { type: 'tool_use', id: idOf(at, index), name, input: {} },
                halves(JSON.stringify(input)).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
              ),
            ),
          ];
    const delta = { stop_reason: typeof step === 'string' ? 'end_turn' : 'tool_use', stop_sequence: null };
    return [
      { type: 'message_start', message: start },
      ...blocks,
      { type: 'message_delta', delta, usage: { output_tokens: 10 } },
      { type: 'message_stop' },
    ];
  },

  responses(step, at) {
    const head = { id: `resp_${at}`, object: 'response', created_at: 1_700_000_000, model: 'upstream-model' };
    const items =
      typeof step === 'string' ? [textItem(step, at)] : step.map((call, index) => callItem(call, at, index));
    const events = items.flatMap(({ item, begun, deltas }, output_index) => [
      { type: 'response.output_item.added', output_index, item: begun },
      ...deltas.map((delta) => ({ item_id: item.id, output_index, ...delta })),
      { type: 'response.output_item.done', output_index, item },
    ]);
    const figures = { input_tokens: 1_000, output_tokens: 10, total_tokens: 1_010 };
    const output = items.map(({ item }) => item);
    return [
      { type: 'response.created', response: { ...head, status: 'in_progress', output: [], usage: null } },
      ...events,
      { type: 'response.completed', response: { ...head, status: 'completed', output, usage: figures } },
    ].map((event, sequence_number) => ({ ...event, sequence_number }));
  },
};

interface Item {
  readonly item: Fields;
  readonly begun: Fields;
  readonly deltas: readonly Fields[];
}

function textItem(text: string, at: number): Item {
  const message = { id: `msg_${at}`, type: 'message', role: 'assistant' };
  const part = { type: 'output_text', text: '', annotations: [] };
  return {
    item: { ...message, status: 'completed', content: [{ ...part, text }] },
    begun: { ...message, status: 'in_progress', content: [] },
    deltas: [
      { type: 'response.content_part.added', content_index: 0, part },
      ...halves(text).map((delta) => ({ type: 'response.output_text.delta', content_index: 0, delta })),
      { type: 'response.output_text.done', content_index: 0, text },
      { type: 'response.content_part.done', content_index: 0, part: { ...part, text } },
    ],
  };
}

function callItem({ name, input }: ToolCall, step: number, at: number): Item {
  const text = JSON.stringify(input);
  const call = { id: `fc_${step}_${at}`, type: 'function_call', call_id: idOf(step, at), name };
  return {
    item: { ...call, status: 'completed', arguments: text },
    begun: { ...call, status: 'in_progress', arguments: '' },
    deltas: [
      ...halves(text).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
      { type: 'response.function_call_arguments.done', arguments: text },
    ],
  };
}
