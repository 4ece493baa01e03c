/** Accents of tool calls. */
import { type Accent, callsOf, everyCall, everyMessage, hasCalls, piecesOf } from './accent.js';

export const callAccents: readonly Accent[] = [
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
