/**
 * Every body of every API as texts with one place for a large value: each field, its members, and members that nobody knows. The place is
 * written as `@`. The fields are those of the doors' tables and of the API's description, so a new one is sent too.
 */
import { doors } from '../../../src/doors/registry.js';
import { chatProviderPlaces, controlPlaces } from './control-places.js';

/** Who may send it: a key of the account, a management key, the operator, or the browser of a user who is signed in. */
type Caller = 'account' | 'management' | 'admin' | 'browser';

export interface Place {
  readonly method: string;
  /** Ids in it are written as `{id}`. */
  readonly path: string;
  readonly caller: Caller;
  /** Empty where the request calls none. */
  readonly model: string;
  readonly field: string;
  readonly template: string;
}

interface Body {
  readonly models: readonly string[];
  /** The fixed members. */
  readonly base: Readonly<Record<string, string>>;
  /** Places inside of the fields. */
  readonly inside: Readonly<Record<string, string>>;
}

const translated = 'acme/meta/llama-3.3-70b';
const speaksMessages = 'claude/meta/llama-3.3-70b';
const speaksResponses = 'respond/meta/llama-3.3-70b';

const inChatMessage = (members: string) => `"messages":[{"role":"user",${members}}]`;
const inChatPart = (members: string) => inChatMessage(`"content":[{${members}}]`);
const inCall = (members: string) =>
  `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{${members}}]},{"role":"tool","tool_call_id":"a","content":"hi"}]`;

const chat: Body = {
  models: [translated],
  base: { messages: '[{"role":"user","content":"hi"}]' },
  inside: {
    'messages[]': '"messages":[@]',
    'messages[].role': '"messages":[{"role":@,"content":"hi"}]',
    'messages[].content': inChatMessage('"content":@'),
    'messages[].content[]': inChatMessage('"content":[@]'),
    'messages[].content[].type': inChatPart('"type":@'),
    'messages[].content[].text': inChatPart('"type":"text","text":@'),
    'messages[].content[].cache_control': inChatPart('"type":"text","text":"hi","cache_control":@'),
    'messages[].content[].image_url': inChatPart('"type":"image_url","image_url":@'),
    'messages[].content[].image_url.url': inChatPart('"type":"image_url","image_url":{"url":@}'),
    'messages[].content[].input_audio': inChatPart('"type":"input_audio","input_audio":@'),
    'messages[].content[].file': inChatPart('"type":"file","file":@'),
    'messages[].content[].unknown': inChatPart('"type":"text","text":"hi","unknown":@'),
    'messages[].name': inChatMessage('"content":"hi","name":@'),
    'messages[].tool_calls':
      '"messages":[{"role":"assistant","content":null,"tool_calls":@},{"role":"user","content":"hi"}]',
    'messages[].tool_calls[].id': inCall('"id":@,"type":"function","function":{"name":"f","arguments":"{}"}'),
    'messages[].tool_calls[].function': inCall('"id":"a","type":"function","function":@'),
    'messages[].tool_calls[].function.name': inCall(
      '"id":"a","type":"function","function":{"name":@,"arguments":"{}"}',
    ),
    'messages[].tool_calls[].function.arguments': inCall(
      '"id":"a","type":"function","function":{"name":"f","arguments":@}',
    ),
    'messages[].tool_call_id': '"messages":[{"role":"tool","tool_call_id":@,"content":"hi"}]',
    'messages[].reasoning':
      '"messages":[{"role":"assistant","content":"a","reasoning":@},{"role":"user","content":"hi"}]',
    'messages[].unknown': inChatMessage('"content":"hi","unknown":@'),
    'tools[]': '"tools":[@]',
    'tools[].type': '"tools":[{"type":@}]',
    'tools[].function': '"tools":[{"type":"function","function":@}]',
    'tools[].function.name': '"tools":[{"type":"function","function":{"name":@}}]',
    'tools[].function.description': '"tools":[{"type":"function","function":{"name":"f","description":@}}]',
    'tools[].function.parameters': '"tools":[{"type":"function","function":{"name":"f","parameters":@}}]',
    'tool_choice.function': '"tool_choice":{"type":"function","function":@}',
    'response_format.type': '"response_format":{"type":@}',
    'response_format.json_schema': '"response_format":{"type":"json_schema","json_schema":@}',
    'response_format.json_schema.schema':
      '"response_format":{"type":"json_schema","json_schema":{"name":"f","schema":@}}',
    'stream_options.include_usage': '"stream":true,"stream_options":{"include_usage":@}',
    'stop[]': '"stop":[@]',
    'audio.voice': '"audio":{"format":"mp3","voice":@}',
    'prediction.content': '"prediction":{"type":"content","content":@}',
    'extra_body.google': '"extra_body":{"google":@}',
  },
};

const inBlock = (members: string) => `"messages":[{"role":"user","content":[{${members}}]}]`;

const messages: Body = {
  models: [translated, speaksMessages],
  base: { messages: '[{"role":"user","content":"hi"}]', max_tokens: '10' },
  inside: {
    'messages[]': '"messages":[@]',
    'messages[].role': '"messages":[{"role":@,"content":"hi"}]',
    'messages[].content': '"messages":[{"role":"user","content":@}]',
    'messages[].content[]': '"messages":[{"role":"user","content":[@]}]',
    'messages[].content[].type': inBlock('"type":@'),
    'messages[].content[].text': inBlock('"type":"text","text":@'),
    'messages[].content[].cache_control': inBlock('"type":"text","text":"hi","cache_control":@'),
    'messages[].content[].input':
      '"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":@}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"hi"}]}]',
    'messages[].content[].content': inBlock('"type":"tool_result","tool_use_id":"a","content":@'),
    'messages[].content[].tool_use_id': inBlock('"type":"tool_result","tool_use_id":@,"content":"hi"'),
    'messages[].content[].source': inBlock('"type":"image","source":@'),
    'messages[].content[].source.data': inBlock(
      '"type":"image","source":{"type":"base64","media_type":"image/png","data":@}',
    ),
    'messages[].content[].thinking':
      '"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":@,"signature":"a"}]},{"role":"user","content":"hi"}]',
    'messages[].content[].unknown': inBlock('"type":"text","text":"hi","unknown":@'),
    'messages[].unknown': '"messages":[{"role":"user","content":"hi","unknown":@}]',
    'system[]': '"system":[@]',
    'system[].text': '"system":[{"type":"text","text":@}]',
    'tools[]': '"tools":[@]',
    'tools[].type': '"tools":[{"type":@,"name":"f"}]',
    'tools[].name': '"tools":[{"name":@,"input_schema":{"type":"object"}}]',
    'tools[].input_schema': '"tools":[{"name":"f","input_schema":@}]',
    'tool_choice.name': '"tool_choice":{"type":"tool","name":@}',
    'metadata.user_id': '"metadata":{"user_id":@}',
    'thinking.type': '"thinking":{"type":@}',
    'output_config.format': '"output_config":{"format":@}',
    'container.skills': '"container":{"skills":@}',
    'stop_sequences[]': '"stop_sequences":[@]',
  },
};

const inItem = (members: string) => `"input":[{${members}},{"role":"user","content":"hi"}]`;
const inCallItem = (id: string, args: string, output: string) =>
  `"input":[{"type":"function_call","call_id":${id},"name":"f","arguments":${args}},{"type":"function_call_output","call_id":"a","output":${output}}]`;

const responses: Body = {
  models: [translated, speaksResponses],
  base: { input: '"hi"' },
  inside: {
    'input[]': '"input":[@]',
    'input[].type': inItem('"type":@'),
    'input[].role': inItem('"role":@,"content":"hi"'),
    'input[].content': inItem('"role":"user","content":@'),
    'input[].content[]': inItem('"role":"user","content":[@]'),
    'input[].content[].type': inItem('"role":"user","content":[{"type":@}]'),
    'input[].content[].text': inItem('"role":"user","content":[{"type":"input_text","text":@}]'),
    'input[].content[].image_url': inItem('"role":"user","content":[{"type":"input_image","image_url":@}]'),
    'input[].content[].file_data': inItem('"role":"user","content":[{"type":"input_file","file_data":@}]'),
    'input[].call_id': inCallItem('@', '"{}"', '"hi"'),
    'input[].arguments': inCallItem('"a"', '@', '"hi"'),
    'input[].output': inCallItem('"a"', '"{}"', '@'),
    'input[].summary': inItem('"type":"reasoning","id":"a","summary":@'),
    'input[].encrypted_content': inItem('"type":"reasoning","id":"a","summary":[],"encrypted_content":@'),
    'input[].unknown': inItem('"role":"user","content":"hi","unknown":@'),
    'tools[]': '"tools":[@]',
    'tools[].type': '"tools":[{"type":@}]',
    'tools[].name': '"tools":[{"type":"function","name":@}]',
    'tools[].parameters': '"tools":[{"type":"function","name":"f","parameters":@}]',
    'tools[].tools': '"tools":[{"type":"namespace","name":"f","tools":@}]',
    'tool_choice.name': '"tool_choice":{"type":"function","name":@}',
    'text.format': '"text":{"format":@}',
    'text.format.schema': '"text":{"format":{"type":"json_schema","name":"f","schema":@}}',
    'reasoning.effort': '"reasoning":{"effort":@}',
    'include[]': '"include":[@]',
    'prompt.id': '"prompt":{"id":@}',
    type: '"type":@',
  },
};

/** By the door's name, which counting tokens and compacting share with what they belong to. */
const bodies: Readonly<Record<string, Body>> = {
  chat,
  messages,
  responses,
  embeddings: {
    models: ['acme/meta/vectors'],
    base: { input: '"hi"' },
    inside: { 'input[]': '"input":[@]', 'input[][]': '"input":[[@]]' },
  },
  rerank: {
    models: ['acme/meta/ranks'],
    base: { query: '"hi"', documents: '["a"]' },
    inside: { 'documents[]': '"documents":[@]', 'documents[].text': '"documents":[{"text":@}]' },
  },
};

/** Fields and places that are the same in every API. */
const common = ['model', 'fallback', 'provider', 'session_id', 'fallbacks', 'models', 'unknown'];
const commonInside = {
  'fallback.models': '"fallback":{"models":@}',
  'fallback.models[]': '"fallback":{"models":[@]}',
  ...chatProviderPlaces,
};

/** The members of the value are members of the body. */
const topLevel = '(top level)';

/** Of the paths that take a door's requests by another way, where the same code reads them. */
const someFields = [topLevel, 'provider', 'model', 'messages[].content', 'input[].content', 'unknown'];

/** Each with the API's path, the field's name, and the body around the place. */
export const places: readonly Place[] = [
  ...doors.flatMap(({ name, path }) => placesOf(path, name)),
  ...['chat', 'messages', 'responses', 'embeddings', 'rerank'].flatMap((name) => [
    ...placesOf('/v1/routes/explain', name, { door: `"${name}"` }),
    ...placesOf(`/dashboard/api/playground/${name}`, name)
      .filter(({ field }) => someFields.includes(field))
      .map((place): Place => ({ ...place, caller: 'browser' })),
  ]),
  ...controlPlaces(),
];

function placesOf(path: string, name: string, more: Readonly<Record<string, string>> = {}): Place[] {
  const body = bodies[name];
  const door = doors.find((each) => each.name === name);
  if (!body || !door) throw new Error(`Nothing is known about the bodies of ${name}.`);
  const texts: Record<string, string | undefined> = {
    ...Object.fromEntries([...door.fields.fields.keys(), ...common].map((field) => [field, `"${field}":@`])),
    ...commonInside,
    ...body.inside,
    [topLevel]: undefined,
  };
  return body.models.flatMap((model) =>
    Object.entries(texts).map(([field, text]): Place => {
      const template = bodyOf({ model: `"${model}"`, ...more, ...body.base }, field, text);
      return {
        method: 'POST',
        path,
        caller: 'account',
        model,
        field: more.door ? `${name}: ${field}` : field,
        template,
      };
    }),
  );
}

/** Members that the field replaces are left out. */
function bodyOf(base: Readonly<Record<string, string>>, field: string, text = '@@'): string {
  const [name] = field.split(/[.[]/);
  const kept = Object.entries(base).filter(([member]) => member !== name);
  return `{${[...kept.map(([member, value]) => `"${member}":${value}`), text].join(',')}}`;
}
