/**
 * Brings the choices of stream chunks into the shape that OpenAI's clients accumulate: a role first, content and reasoning as
 * text, pieces of tool calls under consecutive indexes, and OpenAI's finish reasons. Compatible servers omit, repeat and reshape
 * all of these, so one instance remembers what it has sent of each choice.
 */
import type { Choice, Chunk } from './chunk.js';
import { finishReasonMeant, isCutOff } from './finish-reason.js';
import {
  argumentsText,
  dropPlaceholders,
  type Fields,
  isFields,
  isText,
  nestFunction,
  newCallId,
  reasoningOf,
  tidyContent,
  tidyReasoning,
} from './message.js';

interface CallState {
  readonly index: number;
  id: string;
  /** The gateway made the id, because the server has sent none so far. */
  ownId: boolean;
  name: string;
  /** A custom tool has `input`, any text, where a function has `arguments`. */
  isCustom: boolean;
  hasArguments: boolean;
  /** The last piece of its arguments ends with a brace. */
  endsObject: boolean;
}

interface ChoiceState {
  /** A frame of the choice, and with it the role, has been sent. */
  begun: boolean;
  /** Reasoning came in a member of its own, so `reasoning_details` repeats it. */
  namedReasoning: boolean;
  finished: boolean;
  readonly calls: CallState[];
  /** By the server's own index, which may begin anywhere and may be reused. */
  readonly byIndex: Map<number, CallState>;
}

/** Members that some servers write as null into every delta. Clients of OpenRouter accept only a value, or none. */
const neverNull = ['tool_calls', 'function_call', 'audio', 'images', 'reasoning_details'] as const;

/** Limits the memory of a stream, however many choices and calls a hostile server sends. */
const choicesMax = 256;
const callsMax = 1024;

export class DeltaReader {
  /** The server writes `finish_reason: null` while a choice continues, so a missing reason means the end. */
  writesNullReasons = false;
  private readonly choices = new Map<number, ChoiceState>();

  /** `midway`: the choices have already begun, as a template for later frames assumes. */
  constructor(private readonly midway = false) {}

  tidy({ choices = [] }: Chunk): void {
    for (let position = 0; position < choices.length; position++) this.tidyChoice(choices[position]!, position);
  }

  /** The final chunks, one per choice, for a server that sends no finish reason. */
  finishAll(): Chunk[] {
    return Array.from(this.choices, ([index, state]) => {
      const finish_reason = state.calls.length > 0 ? 'tool_calls' : 'stop';
      const choice: Choice = { index, delta: {}, finish_reason };
      completeArguments(choice.delta as Fields, state.calls, state.calls.length);
      return { choices: [choice] };
    });
  }

  /** Whether every choice that has begun has its finish reason, and `asked` of them have begun. */
  hasFinished(asked: number): boolean {
    const states = [...this.choices.values()];
    return states.length >= Math.min(asked, choicesMax) && states.every(({ finished }) => finished);
  }

  private tidyChoice(choice: Choice, position: number): void {
    const index = indexOf(choice.index) ?? position;
    choice.index = index;
    const state = this.stateOf(index);
    const delta = takeDelta(choice, state);
    for (const name of neverNull) if (delta[name] === null) delete delta[name];
    tidyContent(delta);
    if (!state.namedReasoning && reasoningOf(delta) !== '') state.namedReasoning = true;
    tidyReasoning(delta, !state.namedReasoning);
    if (delta.function_call !== undefined || delta.audio !== undefined) {
      dropPlaceholders(delta);
      if (isFields(delta.function_call)) delta.function_call.arguments = argumentsText(delta.function_call.arguments);
    }
    if (isFields(delta.tool_calls)) delta.tool_calls = [delta.tool_calls];
    if (Array.isArray(delta.tool_calls)) delta.tool_calls = tidyCalls(delta.tool_calls, state);
    if (!state.begun) delta.role = 'assistant';
    else if (delta.role !== undefined && delta.role !== 'assistant') delta.role = 'assistant';
    state.begun = true;
    if (choice.finish_reason === null) this.writesNullReasons = true;
    else choice.finish_reason = finishReasonMeant(choice.finish_reason);
    if (choice.finish_reason === null) return;
    state.finished = true;
    completeArguments(delta, state.calls, finishedCalls(state.calls, choice.finish_reason));
  }

  private stateOf(index: number): ChoiceState {
    const known = this.choices.get(index);
    if (known) return known;
    const state = { begun: this.midway, namedReasoning: false, finished: false, calls: [], byIndex: new Map() };
    if (this.choices.size < choicesMax) this.choices.set(index, state);
    return state;
  }
}

/** The choice's delta. A few servers send a whole `message` or `text` instead, or additionally all that was sent so far. */
function takeDelta(choice: Choice, { begun }: ChoiceState): Fields {
  const { message, text } = choice as Fields;
  if (message !== undefined) delete (choice as Fields).message;
  if (choice.delta === undefined || choice.delta === null) {
    choice.delta = {};
    if (!begun && isFields(message)) choice.delta = message;
    else if (isText(text)) choice.delta.content = text;
  }
  if (choice.usage !== undefined) delete choice.usage;
  return choice.delta as Fields;
}

function tidyCalls(pieces: unknown[], state: ChoiceState): Fields[] {
  const calls = pieces.filter(isFields);
  for (const piece of calls) tidyCall(piece, state);
  return calls;
}

function tidyCall(piece: Fields, state: ChoiceState): void {
  nestFunction(piece);
  if (state.calls.length === callsMax) return;
  const id = isText(piece.id) ? piece.id : typeof piece.id === 'number' ? String(piece.id) : '';
  const custom = isFields(piece.custom) ? piece.custom : undefined;
  const called = custom ?? (isFields(piece.function) ? piece.function : undefined);
  const member = custom ? 'input' : 'arguments';
  const name = isText(called?.name) ? called.name : '';
  const known = callOf(piece.index, id, { name, text: called?.[member] }, state);
  const call = known ?? newCall(id, state);
  const index = indexOf(piece.index);
  if (index !== undefined) state.byIndex.set(index, call);
  piece.index = call.index;
  if (known === undefined) {
    piece.id = call.id;
    if (!isText(piece.type)) piece.type = custom ? 'custom' : 'function';
    call.isCustom = piece.type === 'custom';
  } else {
    delete piece.type;
    delete piece.id;
    if (id !== '' && call.ownId) {
      piece.id = id;
      call.id = id;
      call.ownId = false;
    }
  }
  if (called === undefined) return;
  if (name === '' || name === call.name) delete called.name;
  else {
    called.name = name;
    call.name = name;
  }
  if (called[member] !== undefined || known === undefined) called[member] = argumentsText(called[member]);
  const text = called[member];
  if (!isText(text) || text.trim() === '') return;
  call.hasArguments = true;
  call.endsObject = text.trimEnd().endsWith('}');
}

/** The call that a piece continues; undefined where it begins a new one. */
function callOf(
  givenIndex: unknown,
  id: string,
  { name, text }: { readonly name: string; readonly text: unknown },
  { calls, byIndex }: ChoiceState,
): CallState | undefined {
  const byId = id === '' ? undefined : calls.find((call) => call.id === id);
  if (byId) return byId;
  const index = indexOf(givenIndex);
  if (index !== undefined) {
    const at = byIndex.get(index);
    if (!at || name === '' || at.name === '') return at;
    // Some servers use one index for all parallel calls: another id with another name is another call.
    if (id !== '') return at.ownId ? at : undefined;
    // So is, where none has an id, another name, and an object behind a whole one. A name may be repeated with each piece.
    const isNext = at.hasArguments && (name !== at.name || (at.endsObject && argumentsText(text).startsWith('{')));
    return isNext ? undefined : at;
  }
  const last = calls.at(-1);
  if (id !== '') return last?.ownId && name === '' ? last : undefined;
  if (name === '') return last;
  return last && !last.hasArguments && (last.name === '' || last.name === name) ? last : undefined;
}

function newCall(id: string, { calls }: ChoiceState): CallState {
  const call: CallState = {
    ...{ index: calls.length, id: id || newCallId(), ownId: id === '', name: '' },
    ...{ isCustom: false, hasArguments: false, endsObject: false },
  };
  calls.push(call);
  return call;
}

/** A server's index as a number: it may be missing or written as text. */
function indexOf(given: unknown): number | undefined {
  const index = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
  return Number.isInteger(index) && (index as number) >= 0 ? (index as number) : undefined;
}

/**
 * How many calls, from the first on, are known to be finished. A server may begin several calls before it writes the arguments of
 * any, so of an answer that was cut off only arguments of a later call prove that a call is finished.
 */
function finishedCalls(calls: readonly CallState[], finishReason: unknown): number {
  if (!isCutOff(finishReason)) return calls.length;
  return Math.max(
    0,
    calls.findLastIndex(({ hasArguments }) => hasArguments),
  );
}

/** The arguments of a finished call without any must still be JSON: `{}`. */
function completeArguments(delta: Fields, calls: readonly CallState[], finished: number): void {
  for (const call of calls) {
    if (call.hasArguments || call.isCustom || call.index >= finished) continue;
    call.hasArguments = true;
    const pieces = Array.isArray(delta.tool_calls) ? (delta.tool_calls as Fields[]) : [];
    const own = pieces.find(({ index }) => index === call.index);
    if (own && isFields(own.function)) own.function.arguments = '{}';
    else delta.tool_calls = [...pieces, { index: call.index, function: { arguments: '{}' } }];
  }
}
