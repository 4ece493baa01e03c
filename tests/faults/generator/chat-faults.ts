/**
 * Every way in which a field of a chat request can be wrong, with the correct answer. The gateway finds `field` faults when
 * it reads the body, and `id` and `chain` faults after that (docs/behaviour/requests.md#order-of-checks).
 */
import type { SeededRandom } from '../../support/seeded-random.js';
import { hostileText, prototypeNames, valueNotOf } from './hostile-values.js';
import type { Expected } from './input.js';
import { served } from './input.js';

export interface FieldFault {
  stage: 'field' | 'id' | 'chain';
  field: string;
  /** JSON text; undefined leaves the field out. */
  value: string | undefined;
  expected: Expected;
}

type Make = (random: SeededRandom) => FieldFault;

const invalid = ['invalid_request_error'];
const field = (name: string, value: string | undefined, param = name): FieldFault => ({
  stage: 'field',
  field: name,
  value,
  expected: { status: [400], code: invalid, param: [param] },
});

const outside: Record<string, readonly string[]> = {
  temperature: ['2.0000000001', '-0.0000001', '1e999', '-1e999', '3', '-1', '1e308', '9007199254740993'],
  top_p: ['1.0000001', '-0.1', '2', '1e999', '-1e999'],
  frequency_penalty: ['2.01', '-2.01', '1e999', '-1e999', '100'],
  presence_penalty: ['2.01', '-2.01', '1e999', '-1e999', '-100'],
};
const counts = ['n', 'max_tokens', 'max_completion_tokens'];
const notCounts = ['0', '-1', '1.5', '0.999', '1e999', '-1e999', '1e-400', '-0', '-9007199254740993'];

const sampling: Make = (random) => {
  const name = random.pick(Object.keys(outside));
  return field(name, random.chance(0.6) ? random.pick(outside[name]!) : valueNotOf(random, 'number'));
};
const count: Make = (random) => {
  const name = random.pick(counts);
  return field(name, random.chance(0.6) ? random.pick(notCounts) : valueNotOf(random, 'number'));
};
const stop: Make = (random) =>
  field(
    'stop',
    random.pick(['["a","b","c","d","e"]', '[1]', '[null]', '["a",["b"]]', '{}', '1', 'true', '[{}]']) as string,
  );
const typed: Make = (random) => {
  const [name, ...kinds] = random.pick([
    ['stream', 'boolean'],
    ['logprobs', 'boolean'],
    ['response_format', 'object'],
    ['logit_bias', 'object'],
    ['stream_options', 'object'],
    ['fallback', 'object'],
  ] as const);
  return field(name, valueNotOf(random, ...kinds));
};

const badRoles = ['"function"', '"USER"', '"user "', '""', 'null', '1', 'true', '[]', '{}', '["user"]', '"root"'];
const messages: Make = (random) => {
  const good = '{"role":"user","content":"a"}';
  const role = random.chance(0.3) ? JSON.stringify(hostileText(random)) : random.pick(badRoles);
  const bad = random.pick([
    `{"role":${role},"content":"a"}`,
    '{"content":"a"}',
    '{"role":"user","role":"function","content":"a"}',
    '{"__proto__":{"role":"user"},"content":"a"}',
    '{"role":"tool","content":"a"}',
    '{"role":"tool","content":"a","tool_call_id":1}',
    `{"role":"user","content":${valueNotOf(random, 'string', 'array')}}`,
    valueNotOf(random, 'object'),
    'null',
  ]);
  const list = Array.from({ length: random.below(4) }, () => good);
  list.splice(random.below(list.length + 1), 0, bad);
  const whole = random.pick([undefined, 'null', '[]', valueNotOf(random, 'array')]);
  return field('messages', random.chance(0.75) ? `[${list.join(',')}]` : whole);
};

const modelType: Make = (random) =>
  field('model', random.pick([undefined, 'null', '""', valueNotOf(random, 'string'), '["a"]']));

const aliasName = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** The error for an id that this catalogue does not serve. */
function expectedOfId(id: string): Expected {
  if (id.startsWith('alias/')) {
    const known = aliasName.test(id.slice('alias/'.length));
    return known
      ? { status: [404], code: ['alias_not_found'], param: ['model'] }
      : { status: [400], code: ['invalid_alias_name'], param: ['model'] };
  }
  const segments = id.split('/');
  const shaped = (segments.length === 3 || segments.length === 4) && !segments.includes('');
  if (!shaped || (segments[0] === 'auto' && segments.length === 4))
    return { status: [400], code: invalid, param: ['model'] };
  // The row of a pinned `global` names no param.
  return { status: [404], code: ['not_found'], param: segments[3] === 'global' ? ['model', null] : ['model'] };
}

export function hostileId(random: SeededRandom): string {
  const text = hostileText(random);
  const name = random.pick(prototypeNames);
  return random.pick([
    text,
    `alias/${text}`,
    `alias/${name}`,
    'alias/',
    'alias/nobody-has-this',
    `auto/${text}/${name}`,
    `auto/meta/${name}`,
    'auto/meta/llama-3.3-70b/defra',
    'auto/',
    `${name}/${name}/${name}`,
    `acme/meta/${text}`,
    `acme/meta/llama-3.3-70b/${name}`,
    'acme/meta/llama-3.3-70b/global',
    'acme/meta/llama-3.3-70b/frpar',
    'acme/meta/llama-3.3-70b/../defra',
    `${served}/`,
    `${served}/extra`,
    `/${served}`,
    `${text}/meta/llama-3.3-70b/defra`,
    'ACME/meta/llama-3.3-70b/defra',
    'acme%2fmeta%2fllama-3.3-70b%2fdefra',
    '/'.repeat(1 + random.below(2_000)),
  ]);
}

const modelId: Make = (random) => {
  const id = hostileId(random);
  return { stage: id === '' ? 'field' : 'id', field: 'model', value: JSON.stringify(id), expected: expectedOfId(id) };
};

const fallbackShape: Make = (random) => {
  const models = random.pick([
    valueNotOf(random, 'array'),
    '[1]',
    '[null]',
    `["${served}",{}]`,
    `[${Array.from({ length: 11 + random.below(20) }, () => `"${served}"`).join(',')}]`,
  ]);
  return field('fallback', `{"models":${models}}`, 'fallback.models');
};

const fallbackId: Make = (random) => ({
  stage: 'chain',
  field: 'fallback',
  value: JSON.stringify({ models: [...(random.chance(0.5) ? [served] : []), hostileId(random)] }),
  expected: { status: [400], code: ['invalid_fallback_model'], param: ['fallback.models'] },
});

export const chatFaults: readonly (readonly [number, Make])[] = [
  [4, sampling],
  [4, count],
  [2, stop],
  [4, typed],
  [5, messages],
  [2, modelType],
  [6, modelId],
  [2, fallbackShape],
  [2, fallbackId],
];
