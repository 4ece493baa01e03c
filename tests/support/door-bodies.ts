/** Writes bodies of the client APIs for property tests: usual ones, with a few changes that make them unusual or wrong. */
import type { SeededRandom } from './seeded-random.js';

/** JSON text that remembers its parts, so that names may come twice and numbers keep their spelling. */
type Node = string | { readonly entries: Node[] } | { members: [name: string, value: Node][] };

type Pool = Readonly<Record<string, readonly string[]>>;

const user = '{"role":"user","content":"hi é字"}';
const texts = ['"x"', '"a \\"b\\" \\\\ \\n"', '""', '"é字😀"', '" "'];
const functions = '{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":true}';

/** Values of each field: some that are usual, and some that the parser alone reads or refuses. */
const pools: Readonly<Record<'chat' | 'messages' | 'responses', { readonly always: Pool; readonly some: Pool }>> = {
  chat: {
    always: {
      model: ['"a/b/c"', '"a/b/é"'],
      messages: [
        `[${user}]`,
        `[{"role":"system","content":"s"},${user},{"role":"assistant","content":null,"tool_calls":[{"id":"c"}]},{"role":"tool","tool_call_id":"c","content":"r"}]`,
        '[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"u"}}],"name":"n"}]',
        '[{"role":"user","content":" \\n"}]',
        '[{"role":"user","content":[{"type":"text","text":"a","file":{"file_id":"f"}}]}]',
        '[{"role":"user","content":[{"type":"file","file":{"file_id":"f"}},{"type":"input_audio","input_audio":{"data":"d"}}]}]',
        '[{"role":"assistant","content":"a","reasoning":"r","reasoning_content":"r","refusal":null},{"role":"developer"}]',
      ],
    },
    some: {
      stream: ['true', 'false'],
      stream_options: [
        '{"include_usage":true}',
        '{"include_usage":false,"x":1}',
        '{"include_usage":null}',
        '{"include_usage":1}',
        '{}',
        '{"a":1,"a":2}',
        '{"Include_usage":true}',
      ],
      temperature: ['0.7', '0', '2', '1.5', '2.1', '-1'],
      top_p: ['1', '0.5', '1.1'],
      frequency_penalty: ['0', '-2', '2.5'],
      presence_penalty: ['0', '1e0', '3'],
      max_tokens: ['5', '1.0', '0', '1.5', '1e999'],
      max_completion_tokens: ['7', '0.5'],
      n: ['1', '2', '0'],
      stop: ['"x"', '""', '[]', '["a","b"]', '["1","2","3","4","5"]', '["a",1]'],
      logprobs: ['true', 'false'],
      response_format: ['{"type":"text"}', '{"type":"json_object"}', '{}'],
      logit_bias: ['{}', '{"5":1}'],
      tools: [
        `[${functions}]`,
        '[{"type":"function","function":{"name":"f"}}]',
        '[]',
        '[{"type":"web_search"}]',
        '[{"Type":"x"}]',
      ],
      service_tier: ['"default"', '"auto"', '"flex"'],
      prompt_cache_key: ['"k"', '""', '"é"', `"${'k'.repeat(1_030)}"`],
      metadata: ['{}', '{"user_id":"u"}', '{"a":"b"}'],
      store: ['true', 'false'],
      parallel_tool_calls: ['true', 'false'],
      user: texts,
      seed: ['1', '9007199254740993', '1.50'],
      verbosity: ['"low"', '""', `"${'x'.repeat(70)}"`],
      prediction: ['{"type":"content","content":"x"}'],
      reasoning_effort: ['"low"'],
      top_k: ['3'],
      web_search_options: ['{}'],
      speed: ['"fast"', '"standard"'],
      modalities: ['["text"]', '["audio"]'],
      audio: ['{"voice":{"id":"v"}}'],
      extra_body: ['{"google":{"cached_content":"c"}}', '{}'],
    },
  },
  messages: {
    always: {
      model: ['"a/b/c"'],
      max_tokens: ['5', '5', '0', '1.5'],
      messages: [
        `[${user}]`,
        '[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"image","source":{"type":"url","url":"u"}}]}]',
        '[{"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"tool_use","id":"i","name":"n","input":{"a":[1]}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"i","content":[{"type":"text","text":"a"}]}]}]',
        '[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"m","data":"d"}},{"type":"document","source":{"type":"content","content":"c"}},{"type":"search_result"}]}]',
        '[{"role":"user","content":[{"type":"image","source":{"type":"file","file_id":"f"}},{"type":"image","source":{"type":"text","data":"d"}}]}]',
        '[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"u","file_id":"f"}}]}]',
        '[{"role":"user","content":[{"type":"text","text":"a","source":{"type":"url","url":"u","content":[{"type":"container_upload"}]}}]}]',
        '[{"role":"assistant","content":[]},{"role":"system","content":"s"}]',
      ],
    },
    some: {
      stream: ['true', 'false'],
      system: ['"s"', '[{"type":"text","text":"s"}]', '[]'],
      stop_sequences: ['["a"]', '[]', '["1","2","3","4","5"]', '[1]'],
      temperature: ['1', '0.5', '1.5'],
      top_p: ['1', '-1', '2'],
      top_k: ['40', '-1', '-2'],
      thinking: [
        '{"type":"enabled","budget_tokens":3}',
        '{"type":"adaptive","display":"omitted"}',
        '{"type":1}',
        '{"budget_tokens":"1"}',
      ],
      output_config: [
        '{"effort":"low"}',
        '{"effort":1}',
        '{"format":{"type":"json_schema","schema":{}}}',
        '{"format":1}',
        '{"task_budget":1}',
      ],
      tool_choice: ['{"type":"any"}', '{"type":"tool","name":"f"}', '{"type":"tool"}', '{}', '{"type":"other"}'],
      metadata: ['{"user_id":"u"}', '{"user_id":1}', '{}'],
      context_management: ['{"edits":[]}'],
      service_tier: ['"auto"', '"standard_only"', '"flex"'],
      cache_control: ['{"type":"ephemeral"}'],
      tools: [
        '[{"name":"f","description":"d","input_schema":{"type":"object"}}]',
        '[{"type":"custom","name":"f","input_schema":{}},{"type":"web_search_20250305","name":"web_search"}]',
        '[{"name":"","input_schema":{}}]',
        '[{"name":"f"}]',
        '[1]',
        '[]',
      ],
      speed: ['"standard"', '"fast"'],
      prompt_cache_key: ['"k"'],
      container: ['{"id":"c"}', '"c"'],
      thread: ['{"id":"t"}'],
      user: ['"u"'],
    },
  },
  responses: {
    always: {
      model: ['"a/b/c"'],
      input: [
        ...texts,
        `[${user}]`,
        '[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"u","detail":"low"}]}]',
        '[{"type":"function_call","call_id":"c","name":"n","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"o"},{"type":"reasoning","id":"r"}]',
        '[{"role":"assistant","content":[{"type":"refusal","refusal":"r"},{"type":"output_text","text":"t"}]},{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"a"}]}]',
        '[{"id":"i"},{"type":"item_reference","id":"i"}]',
        '[{"type":"web_search_call","id":"w"},{"role":"user","content":[{"type":"input_file","file_id":"f"},{"type":"other"}]}]',
        '[]',
      ],
    },
    some: {
      stream: ['true', 'false'],
      instructions: [...texts, '["a"]'],
      max_output_tokens: ['5', '0', '1.5'],
      max_tool_calls: ['2', '0', '1.5'],
      temperature: ['0.5', '2', '2.1'],
      top_p: ['1', '1.1'],
      store: ['false', 'true'],
      background: ['false', 'true'],
      parallel_tool_calls: ['true', 'false'],
      reasoning: ['{"effort":"low","summary":"auto"}', '{}', '{"effort":1}', '{"summary":null}', '{"effort":""}'],
      text: [
        '{"verbosity":"low"}',
        '{"format":{"type":"text"}}',
        '{"format":{"type":"json_schema","name":"n","schema":{}}}',
        '{"format":{}}',
        '{"verbosity":1}',
      ],
      metadata: ['{"a":"b"}', '{}'],
      service_tier: ['"default"', '"auto"', '"flex"'],
      truncation: ['"auto"', '"disabled"'],
      user: texts,
      safety_identifier: texts,
      prompt_cache_key: ['"k"', '""', '"é"', `"${'k'.repeat(1_030)}"`],
      include: ['["reasoning.encrypted_content"]', '[]', '["other"]', '[1]'],
      tools: [
        `[${functions}]`,
        '[{"type":"custom","name":"c"}]',
        '[{"type":"function"}]',
        '[{"type":"function","name":"f","parameters":[]}]',
        '[{"type":"namespace","name":"n","tools":[{"name":"f"}]}]',
        '[{"type":"web_search"}]',
        '[{}]',
      ],
      tool_choice: [
        '"auto"',
        '{"type":"function","name":"f"}',
        '{"type":"function"}',
        '{"type":"allowed_tools","tools":[]}',
        '{"type":"other"}',
      ],
      prompt: ['{"id":"p"}', '"p"'],
      previous_response_id: ['"r"'],
      modalities: ['["audio"]'],
      top_logprobs: ['1', '0'],
    },
  },
};

const shared: Pool = {
  fallback: ['{"models":["x/y/z"]}', '{}', '{"models":[1]}'],
  provider: ['{"only":["x"]}'],
  session_id: ['"s"', '1', '""'],
  fallbacks: ['[]', '[{"model":"x"}]'],
  plugins: ['[]', '[{}]'],
  inference_geo: ['"us"'],
  unknown: ['null', '1.50', '"x"', '{"a":{"b":[{}]}}', '123456789012345678901234567890', '-0', '1e400'],
  constructor: ['1', '{}'],
  __proto__: ['1', '{"model":"x/y/z"}'],
};

const oddValues = [
  ...['null', 'null', 'true', 'false', '0', '1', '-1', '1.5', '3', '1e400', '9007199254740993', '-0', '01', '1e', '.5'],
  ...['"x"', '""', '"\\u0061"', '"\\n"', '"\\x"', '"a\tb"', '"é😀"', '"\\ud800"', '[]', '{}', '[{}]', '["a"]', '[[]]'],
  ...['{"type":"x"}', '{"type":"text"}', '{"a":1,"a":2}', '{"role":"user"}', '[1,"a"]', '{"Type":1}', '{"ſource":1}'],
];
const oddNames = [
  ...[
    'Model',
    'STREAM',
    'meſſages',
    'typ\\u0065',
    'type',
    'a',
    'role',
    'Role',
    'content',
    'Content',
    'model',
    'x y',
    '',
  ],
];

export type DoorName = keyof typeof pools;

/** A body of an API, of which about half have a few changes. */
export function doorBody(random: SeededRandom, door: DoorName): Buffer {
  const { always, some } = pools[door];
  const fields: [string, string][] = Object.entries(always).map(([name, values]) => [name, pickEarly(random, values)]);
  for (const [name, values] of Object.entries({ ...some, ...shared })) {
    if (random.chance(name in some ? 0.12 : 0.01)) fields.push([name, pickEarly(random, values)]);
  }
  if (random.chance(0.7)) shuffle(random, fields);
  const body: Node = { members: fields.map(([name, text]) => [name, nodeOf(JSON.parse(text), text)]) };
  if (random.chance(0.6)) for (let left = 1 + random.below(2); left > 0; left--) change(random, body);
  return Buffer.from(`${random.pick(['', '', ' '])}${written(random, body)}${random.pick(['', '', ' ', '\n', 'x'])}`);
}

/** The first values of a pool are the usual ones. */
const pickEarly = (random: SeededRandom, values: readonly string[]): string =>
  random.chance(0.6) ? values[0]! : random.pick(values);

function shuffle<T>(random: SeededRandom, items: T[]): void {
  for (let at = items.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [items[at], items[other]] = [items[other]!, items[at]!];
  }
}

function nodeOf(value: unknown, text = JSON.stringify(value)): Node {
  if (Array.isArray(value)) return { entries: value.map((entry) => nodeOf(entry)) };
  if (value === null || typeof value !== 'object' || text.includes('"a":1,"a":2')) return text;
  return { members: Object.entries(value).map(([name, member]) => [name, nodeOf(member)]) };
}

/** Changes something at any depth: a value, a name, the order, or how often a member comes. */
function change(random: SeededRandom, node: Node): void {
  if (typeof node === 'string') return;
  const places = 'entries' in node ? node.entries : node.members.map(([, value]) => value);
  if (places.length > 0 && random.chance(0.6)) {
    const inner = random.pick(places);
    if (typeof inner !== 'string') {
      change(random, inner);
      return;
    }
  }
  const at = random.below(places.length + 1);
  const kind = random.below(8);
  if ('entries' in node) {
    if (kind < 2) node.entries.splice(at, 1);
    else node.entries.splice(at, kind < 6 ? 1 : 0, random.pick(oddValues));
    return;
  }
  const name = node.members[at]?.[0] ?? random.pick(oddNames);
  if (kind < 1) node.members.splice(at, 1);
  else if (kind < 4) node.members.splice(at, 1, [name, random.pick(oddValues)]);
  else if (kind < 5) node.members.push([name, random.pick([...places, ...oddValues])]);
  else if (kind < 6) shuffle(random, node.members);
  else if (kind < 7) node.members.splice(at, 0, [random.pick(oddNames), random.pick(oddValues)]);
  else node.members.splice(at, 1, [oddSpelling(random, name), node.members[at]?.[1] ?? '1']);
}

const oddSpelling = (random: SeededRandom, name: string): string =>
  random.pick([name.toUpperCase(), name.replace('s', 'ſ'), name.replace('e', '\\u0065'), `${name}é`, `${name}_x`]);

function written(random: SeededRandom, node: Node): string {
  if (typeof node === 'string') return node;
  const space = (): string => (random.chance(0.03) ? random.pick([' ', '  ', ' ', '\n', '\t']) : '');
  const comma = (): string => `${space()},${space()}`;
  if ('entries' in node) return `[${space()}${node.entries.map((entry) => written(random, entry)).join(comma())}]`;
  const members = node.members.map(([name, value]) => `"${name}"${space()}:${space()}${written(random, value)}`);
  return `{${space()}${members.join(comma())}${space()}}`;
}
