/** Random requests and answers, within what every dialect supports. */
import type { Json } from '../support/client.js';
import type { SeededRandom } from '../support/seeded-random.js';
import { answerSchema, clockTool, figures, pixel, weatherTool } from './cases.js';
import type { Said } from './dialect-fixture.js';

const pieces = [
  'a',
  ' ',
  'é',
  '字',
  '😀',
  '"',
  '\\',
  '\n',
  '\t',
  '{',
  '}',
  '[DONE]',
  'data:',
  '\u2028',
  '\\u00e9',
  '</s>',
];
const values = ['"x"', '1', 'true', 'null', '["é"]', '{"k":"\\\\"}'];

/** Never blank: some providers take no blank text. */
const textOf = (random: SeededRandom): string => `t${random.textOf(pieces, 8)}`;

function argumentsOf(random: SeededRandom): string {
  if (random.chance(0.1)) return random.pick(['', '[1]', 'no JSON "', '7']);
  const members = Array.from({ length: random.below(3) }, (_, at) => `"m${at}":${random.pick(values)}`);
  return `{${members.join(random.pick([',', ' , ']))}}`;
}

function contentOf(random: SeededRandom, images: boolean): unknown {
  if (random.chance(0.5)) return textOf(random);
  return Array.from({ length: 1 + random.below(3) }, () =>
    images && random.chance(0.3)
      ? { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } }
      : { type: 'text', text: textOf(random) },
  );
}

/** Ends with a turn of the user; every call is answered. */
function messagesOf(random: SeededRandom): Json[] {
  const messages: Json[] = [];
  for (let left = random.below(3); left > 0; left--) {
    messages.push({ role: random.pick(['system', 'developer']), content: contentOf(random, false) });
  }
  for (let left = random.below(4), calls = 0; left > 0; left--) {
    messages.push({ role: 'user', content: contentOf(random, true) });
    if (random.chance(0.5)) {
      messages.push({ role: 'assistant', content: textOf(random) });
      continue;
    }
    const ids = Array.from({ length: 1 + random.below(3) }, () => `call_${calls++}`);
    messages.push({
      role: 'assistant',
      content: random.pick([null, '', textOf(random)]),
      tool_calls: ids.map((id) => ({
        id,
        type: 'function',
        function: { name: random.pick(['get_weather', 'get_time']), arguments: argumentsOf(random) },
      })),
    });
    for (const id of ids) messages.push({ role: 'tool', tool_call_id: id, content: contentOf(random, false) });
  }
  messages.push({ role: 'user', content: contentOf(random, true) });
  return messages;
}

export function randomChat(random: SeededRandom): Json {
  const choice = random.pick(['auto', 'required', { type: 'function', function: { name: 'get_time' } }]);
  return {
    messages: messagesOf(random),
    max_completion_tokens: 1 + random.below(5000),
    tools: [weatherTool, clockTool],
    ...(random.chance(0.5) && { tool_choice: choice }),
    ...(random.chance(0.3) && { stop: random.pick(['END', ['END', 'FIN é']]) }),
    ...(random.chance(0.5) && { temperature: random.below(11) / 10 }),
    ...(random.chance(0.3) && {
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: answerSchema } },
    }),
  };
}

const piecesOf = (random: SeededRandom, whole: string): string[] => {
  const units = [...whole];
  const cut: string[] = [];
  while (units.length > 0) cut.push(units.splice(0, 1 + random.below(4)).join(''));
  return cut;
};

export function randomSaid(random: SeededRandom): Said {
  const toolCalls = Array.from({ length: random.below(3) }, (_, at) => {
    const input = JSON.stringify({ city: textOf(random), n: random.below(9) });
    return { id: `call_${at}`, name: random.pick(['get_weather', 'get_time']), arguments: piecesOf(random, input) };
  });
  const finish = toolCalls.length > 0 ? 'tool_calls' : random.pick(['stop', 'length'] as const);
  const prompt = 10 + random.below(5000);
  const completion = 10 + random.below(500);
  return {
    ...(random.chance(0.3) && { reasoning: piecesOf(random, textOf(random)) }),
    ...((random.chance(0.8) || toolCalls.length === 0) && { text: piecesOf(random, textOf(random)) }),
    ...(toolCalls.length > 0 && { toolCalls }),
    finish,
    usage: figures({ prompt, completion, cached: random.chance(0.5) ? 1 + random.below(prompt - 9) : 0 }),
  };
}
