/** Conversations of two steps: the model calls tools, the client runs them and sends the results, the model answers. */
import type { Said, SaidUsage } from '../dialects/dialect-fixture.js';
import type { Json } from '../support/client.js';

export const instructions = 'Be brief.';
export const question = 'Wohin in Köln 字 😀?';

export interface ToolCall {
  id: string;
  name: 'plan_trip' | 'get_time';
  input: Json;
  /** What the tool gives: an object, which every client writes as JSON, or text. */
  result: Json | string;
}

/** The result as a client sends it. */
export const writtenResult = ({ result }: ToolCall): string =>
  typeof result === 'string' ? result : JSON.stringify(result);

export interface TwoSteps {
  name: string;
  calls: readonly ToolCall[];
  /** What the model says beside its calls, and before. */
  text: readonly string[];
  reasoning?: readonly string[];
}

const trip: ToolCall = {
  id: 'call_1',
  name: 'plan_trip',
  input: {
    city: 'Köln 字 😀',
    stops: [{ name: 'Café "Zoë" \\ 2', at: { lat: 50.94, lon: -6.96 } }, { name: 'Dom\n' }],
    options: { slow: true, detours: [], limit: null, deep: { er: { still: '…' } } },
  },
  result: { sky: 'bewölkt ☁', legs: [{ km: 12.5, note: '"links"' }] },
};
const clock: ToolCall = { id: 'call_2', name: 'get_time', input: {}, result: '12:00 — Mittag' };

const oneCall: TwoSteps = { name: 'one tool call', calls: [trip], text: [] };
export const parallelCalls: TwoSteps = {
  name: 'two parallel tool calls after a text',
  calls: [trip, clock],
  text: ['Let me', ' see… 👀'],
};
export const reasonedCall: TwoSteps = {
  name: 'a tool call after reasoning',
  calls: [trip],
  text: [],
  reasoning: ['Hm, ', 'a "trip"\n…'],
};
export const conversations = [oneCall, parallelCalls];

export const answer = 'Nimm den Rhein 🚶.';
const answerPieces = ['Nimm', ' den', ' Rhein 🚶', '.'];

export const usages: [SaidUsage, SaidUsage] = [
  { prompt: 40, cached: 0, completion: 12, reasoning: 0 },
  { prompt: 1203, cached: 1024, completion: 9, reasoning: 0 },
];

/** Texts of JSON in pieces that heed neither its values nor its escapes. */
function pieces(text: string): string[] {
  const characters = [...text];
  return [0, 9, 31, 70].flatMap((start, i, starts) => characters.slice(start, starts[i + 1]).join('') || []);
}

export function saidIn({ calls, text, reasoning }: TwoSteps): [Said, Said] {
  const toolCalls = calls.map(({ id, name, input }) => ({
    id,
    name,
    arguments: Object.keys(input).length > 0 ? pieces(JSON.stringify(input)) : [],
  }));
  return [
    { text, toolCalls, finish: 'tool_calls', usage: usages[0], ...(reasoning && { reasoning }) },
    { text: answerPieces, finish: 'stop', usage: usages[1] },
  ];
}
