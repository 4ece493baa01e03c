/**
 * Every body of every API as texts with one place for a large value: each field, its members, and members that nobody knows. The place is
 * written as `@`.
 */

/** The fixed members of each body, its fields, and places inside of them. The second model speaks the API itself. */
const apis = [
  {
    path: '/v1/chat/completions',
    models: ['acme/meta/llama-3.3-70b'],
    base: { messages: '[{"role":"user","content":"hi"}]' },
    fields: [
      ...['messages', 'stream', 'stream_options', 'temperature', 'top_p', 'frequency_penalty', 'presence_penalty'],
      ...['max_tokens', 'max_completion_tokens', 'n', 'stop', 'logprobs', 'top_logprobs', 'response_format'],
      ...[
        'logit_bias',
        'tools',
        'tool_choice',
        'parallel_tool_calls',
        'service_tier',
        'web_search_options',
        'modalities',
      ],
      ...['audio', 'prediction', 'reasoning_effort', 'reasoning', 'verbosity', 'metadata', 'user', 'seed', 'store'],
      ...['safety_identifier', 'prompt_cache_key', 'prompt_cache_retention', 'speed', 'functions', 'function_call'],
    ],
    places: {
      'messages[].role': '"messages":[{"role":@,"content":"hi"}]',
      'messages[].content': '"messages":[{"role":"user","content":@}]',
      'messages[].content[].text': '"messages":[{"role":"user","content":[{"type":"text","text":@}]}]',
      'messages[].content[].cache_control':
        '"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":@}]}]',
      'messages[].name': '"messages":[{"role":"user","name":@,"content":"hi"}]',
      'messages[].tool_calls':
        '"messages":[{"role":"assistant","content":null,"tool_calls":@},{"role":"user","content":"hi"}]',
      'messages[].tool_call_id': '"messages":[{"role":"tool","tool_call_id":@,"content":"hi"}]',
      'messages[].reasoning':
        '"messages":[{"role":"assistant","content":"a","reasoning":@},{"role":"user","content":"hi"}]',
      'messages[].unknown': '"messages":[{"role":"user","content":"hi","unknown":@}]',
      'tools[].type': '"tools":[{"type":@}]',
      'tools[].function.parameters': '"tools":[{"type":"function","function":{"name":"f","parameters":@}}]',
      'response_format.json_schema': '"response_format":{"type":"json_schema","json_schema":@}',
      'stream_options.include_usage': '"stream":true,"stream_options":{"include_usage":@}',
    },
  },
  {
    path: '/v1/messages',
    models: ['acme/meta/llama-3.3-70b', 'claude/meta/llama-3.3-70b'],
    base: { messages: '[{"role":"user","content":"hi"}]', max_tokens: '10' },
    fields: [
      ...['messages', 'system', 'max_tokens', 'stream', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'tools'],
      ...['tool_choice', 'metadata', 'thinking', 'output_config', 'service_tier', 'diagnostics', 'context_management'],
      ...['compaction', 'cache_control', 'thread', 'speed', 'container', 'mcp_servers', 'inference_geo'],
    ],
    places: {
      'messages[].content': '"messages":[{"role":"user","content":@}]',
      'messages[].content[].text': '"messages":[{"role":"user","content":[{"type":"text","text":@}]}]',
      'messages[].content[].input':
        '"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":@}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"hi"}]}]',
      'messages[].content[].content':
        '"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":@}]}]',
      'messages[].content[].source': '"messages":[{"role":"user","content":[{"type":"image","source":@}]}]',
      'messages[].content[].unknown':
        '"messages":[{"role":"user","content":[{"type":"text","text":"hi","unknown":@}]}]',
      'tools[].type': '"tools":[{"type":@,"name":"f"}]',
      'tools[].input_schema': '"tools":[{"name":"f","input_schema":@}]',
      'metadata.user_id': '"metadata":{"user_id":@}',
      'output_config.format': '"output_config":{"format":@}',
    },
  },
  {
    path: '/v1/responses',
    models: ['acme/meta/llama-3.3-70b', 'respond/meta/llama-3.3-70b'],
    base: { input: '"hi"' },
    fields: [
      ...[
        'input',
        'instructions',
        'stream',
        'stream_options',
        'store',
        'background',
        'include',
        'tools',
        'tool_choice',
      ],
      ...['parallel_tool_calls', 'text', 'reasoning', 'max_output_tokens', 'max_tool_calls', 'temperature', 'top_p'],
      ...['top_logprobs', 'truncation', 'metadata', 'safety_identifier', 'user', 'service_tier', 'prompt_cache_key'],
      ...['prompt_cache_options', 'prompt_cache_retention', 'context_management', 'client_metadata', 'prompt'],
      ...['previous_response_id', 'conversation'],
    ],
    places: {
      'input[].content': '"input":[{"role":"user","content":@}]',
      'input[].content[].text': '"input":[{"role":"user","content":[{"type":"input_text","text":@}]}]',
      'input[].arguments':
        '"input":[{"type":"function_call","call_id":"a","name":"f","arguments":@},{"type":"function_call_output","call_id":"a","output":"hi"}]',
      'input[].output':
        '"input":[{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":@}]',
      'input[].summary': '"input":[{"type":"reasoning","id":"a","summary":@},{"role":"user","content":"hi"}]',
      'input[].unknown': '"input":[{"role":"user","content":"hi","unknown":@}]',
      'tools[].type': '"tools":[{"type":@}]',
      'tools[].parameters': '"tools":[{"type":"function","name":"f","parameters":@}]',
      'tools[].tools': '"tools":[{"type":"namespace","name":"f","tools":@}]',
      'text.format': '"text":{"format":@}',
      'text.format.schema': '"text":{"format":{"type":"json_schema","name":"f","schema":@}}',
      'reasoning.effort': '"reasoning":{"effort":@}',
    },
  },
  {
    path: '/v1/embeddings',
    models: ['acme/meta/vectors'],
    base: { input: '"hi"' },
    fields: ['input', 'dimensions', 'encoding_format', 'user'],
    places: { 'input[]': '"input":[@]' },
  },
  {
    path: '/v1/rerank',
    models: ['acme/meta/ranks'],
    base: { query: '"hi"', documents: '["a"]' },
    fields: ['query', 'documents', 'top_n', 'return_documents'],
    places: { 'documents[]': '"documents":[@]', 'documents[].text': '"documents":[{"text":@}]' },
  },
];

/** Fields that are the same in every API. */
const common = ['model', 'fallback', 'provider', 'session_id', 'fallbacks', 'models', 'unknown'];
const commonPlaces = {
  'fallback.models': '"fallback":{"models":@}',
  'fallback.models[]': '"fallback":{"models":[@]}',
  'provider.only': '"provider":{"only":@}',
  'provider.order': '"provider":{"order":@}',
  'provider.order[]': '"provider":{"order":[@]}',
  'provider.max_price': '"provider":{"max_price":@}',
  'provider.regions': '"provider":{"regions":@}',
  'provider.certifications': '"provider":{"certifications":@}',
  'provider.unknown': '"provider":{"unknown":@}',
};

/** The members of the value are members of the body. */
const topLevel = '(top level)';

/** Bodies that set something. */
const controls = [
  ['POST', '/v1/aliases', ['name', 'target', 'provider', 'canonical_id', 'locode']],
  ['PUT', '/v1/fallback', ['fallback']],
  ['PUT', '/v1/routing-policy', ['deny_cloud_act', 'max_carbon', 'providers', 'regions', 'certifications', 'prefer']],
  ['POST', '/v1/keys', ['name', 'expires', 'limit_usd', 'allowed_models', 'allowed_ips']],
];

/** Each with the API's path, the field's name, and the body around the place. */
export const places = [...apis.flatMap(placesOf), ...controls.flatMap(controlPlaces)];

function placesOf({ path, models, base, fields, places: own }) {
  const texts = {
    ...Object.fromEntries([...fields, ...common].map((name) => [name, `"${name}":@`])),
    ...commonPlaces,
    ...own,
    [topLevel]: undefined,
  };
  return models.flatMap((model) =>
    Object.entries(texts).map(([field, text]) => ({
      ...{ method: 'POST', path, model, field, template: bodyOf({ model: `"${model}"`, ...base }, field, text) },
    })),
  );
}

/** Members that the field replaces are left out. */
function bodyOf(base, field, text = '@@') {
  const [name] = field.split(/[.[]/);
  const kept = Object.entries(base).filter(([member]) => member !== name);
  return `{${[...kept.map(([member, value]) => `"${member}":${value}`), text].join(',')}}`;
}

function controlPlaces([method, path, fields]) {
  return [...fields, 'unknown'].map((field) => ({ method, path, model: '', field, template: `{"${field}":@}` }));
}

/** The body with a value in its place. At the top level the value's own members are put there, or the value under one name. */
export function bodyWith(template, value) {
  if (!template.includes('@@')) return template.replace('@', () => value);
  return template.replace('@@', () => (value.startsWith('{') ? value.slice(1, -1) : `"unknown":${value}`));
}
