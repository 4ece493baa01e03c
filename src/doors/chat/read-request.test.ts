import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../errors/gateway-error.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import { readRequest } from './read-request.js';

const required = '"model":"a/b/c","messages":[{"role":"user","content":"hi"}]';
const request = (members = ''): ChatRequest => readRequest(Buffer.from(`{${required}${members && `,${members}`}}`));
const sent = (members: string): Record<string, unknown> =>
  JSON.parse(`{${Buffer.from(request(members).members as string, request(members).encoding)}}`);

function refusal(body: string | Buffer): GatewayError {
  try {
    readRequest(Buffer.from(body));
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    return error as GatewayError;
  }
  throw new Error(`accepted: ${body}`);
}
const refused = (members: string): GatewayError => refusal(`{${required},${members}}`);

const high = '1e999';
const low = '-1e999';
const wrong = ['"1"', 'true', '[]', '{}'];
const accepted: Record<string, string[]> = {
  temperature: ['0', '2', '0.7', '-0', '1e-400', '2.0'],
  top_p: ['0', '1', '-0'],
  frequency_penalty: ['-2', '2', '-0'],
  presence_penalty: ['-2', '2', '0.5'],
  n: ['1', '2', '2.0', '128'],
  max_tokens: ['1', '9007199254740991'],
  max_completion_tokens: ['1', '1e3'],
};
const outside: Record<string, string[]> = {
  temperature: [high, low, '2.0000000001', '-0.0001', '3'],
  top_p: [high, low, '1.0000000001', '-0.0001'],
  frequency_penalty: [high, low, '2.0000000001', '-2.0000000001'],
  presence_penalty: [high, low, '2.0000000001', '-3'],
  n: [high, low, '0', '-1', '-0', '0.5'],
  max_tokens: [high, low, '0', '-1'],
  max_completion_tokens: [high, low, '0', '-0'],
};
const table = (rows: Record<string, string[]>) =>
  Object.entries(rows).flatMap(([field, values]) => values.map((value) => [field, value] as const));

describe('numbers', () => {
  it.each(table(accepted))('%s may be %s', (field, value) => {
    const given = Number(value);
    const noOp = field === 'n' && given === 1;
    expect(sent(`"${field}":${value}`)[field]).toEqual(noOp ? undefined : given);
  });

  it.each(table(outside))('%s may not be %s: 400 that names field and value', (field, value) => {
    const error = refused(`"${field}":${value}`);
    expect([error.status, error.row.code, error.param]).toEqual([400, 'invalid_request_error', field]);
    expect(error.message).toContain(`\`${field}\` is ${Number(value) + 0},`);
  });

  it.each(Object.keys(accepted).flatMap((field) => wrong.map((value) => [field, value] as const)))(
    '%s may not be %s: 400 for its type',
    (field, value) => {
      const error = refused(`"${field}":${value}`);
      expect([error.status, error.param, error.condition]).toEqual([400, field, 'field_type']);
      expect(error.message).toContain(value === '[]' ? 'an array' : value === '{}' ? 'an object' : value);
    },
  );

  it.each(['n', 'max_tokens', 'max_completion_tokens'])(
    '%s may not be 2.0000000001: it must be an integer',
    (field) => {
      const error = refused(`"${field}":2.0000000001`);
      expect([error.status, error.param]).toEqual([400, field]);
      expect(error.message).toContain('2.0000000001');
    },
  );
});

describe('other fields with a rule', () => {
  it.each([
    ['stream', ['1', '"true"', '[]', '{}', '1e999']],
    ['stop', ['1', 'true', '{}', '[1]', '["a",null]', '["a","b","c","d","e"]']],
    ['response_format', ['1', '"json"', 'true', '[]']],
    ['logprobs', ['1', '"true"', '[]', '{}']],
    ['logit_bias', ['1', '"x"', 'true', '[]']],
    ['stream_options', ['1', '"x"', 'true', '[]']],
    ['fallback', ['1', '"x"', 'true', '[]']],
  ])('%s of a wrong kind is a 400 with that param', (field, values) => {
    for (const value of values) {
      const error = refused(`"${field}":${value}`);
      expect([error.status, error.row.code, error.param], value).toEqual([400, 'invalid_request_error', field]);
    }
  });

  it.each(['1', '"a/b/c"', '{}', '[1]', '[null]', JSON.stringify(Array(11).fill('a/b/c'))])(
    'fallback.models may not be %s',
    (models) => {
      expect(refused(`"fallback":{"models":${models}}`).param).toBe('fallback.models');
    },
  );

  it.each(['1', 'true', '[]', '{}', '1e999'])('model may not be %s', (model) => {
    expect(refusal(`{"model":${model},"messages":[{"role":"user"}]}`)).toMatchObject({ status: 400, param: 'model' });
  });

  it.each(['{"messages":[]}', '{"model":null}', '{"model":""}'])('model missing in %s is a 400', (body) => {
    expect(refusal(body)).toMatchObject({ status: 400, param: 'model' });
  });

  it.each(
    Object.keys(accepted).concat(
      'stop',
      'response_format',
      'logprobs',
      'logit_bias',
      'stream',
      'stream_options',
      'fallback',
    ),
  )('null in %s is the same as leaving it out', (field) => {
    expect(request(`"${field}":null`)).toEqual(request());
  });

  it('stop may be one string or up to four', () => {
    expect(sent('"stop":"x"').stop).toBe('x');
    expect(sent('"stop":["a","b","c","d"]').stop).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('what goes on to the provider', () => {
  it.each(['"n":1', '"logprobs":false', '"logit_bias":{}', '"response_format":{"type":"text"}'])(
    'is not the no-op %s, which needs nothing of a route',
    (member) => {
      const { needs, members } = request(member);
      expect(needs).toEqual([]);
      expect(members).toBe(request().members);
    },
  );

  it.each([
    ['"n":2', 'n'],
    ['"logprobs":true', 'logprobs'],
    ['"logit_bias":{"5":1}', 'logit_bias'],
    ['"response_format":{"type":"json_object"}', 'response_format'],
    ['"response_format":{}', 'response_format'],
  ])('is %s, which needs a route that can apply it', (member, need) => {
    expect(request(member).needs).toEqual([need]);
    expect(request(member).members).toContain(member);
  });

  it('is every unknown field as it came, and never `fallback`, `model`, `stream` or `stream_options`', () => {
    const unknown =
      '"seed":12,"user":null,"tools":[{"type":"function"}],"x":{"y":[1,"é😀"]},"top_logprobs":0,"metadata":{}';
    const { members, fallback, stream } = request(
      `"stream":true,${unknown},"fallback":{"models":["a/b/c"],"x":1},"stream_options":{}`,
    );
    expect(Buffer.from(members as string, 'latin1').toString()).toBe(
      `"messages":[{"role":"user","content":"hi"}],${unknown}`,
    );
    expect([fallback, stream]).toEqual([['a/b/c'], true]);
  });

  it('has every number as it was written, beside and inside a parameter that needs a route', () => {
    const members =
      '"seed":9223372036854775807,"response_format":{"type":"json_schema","json_schema":{"maximum":1e400}}';
    expect(request(`${members},"n":2`).members).toContain(`${members},"n":2`);
    const twice = request('"logit_bias":{"5":1,"5":2},"response_format":{"type":"text","type":"x"},"seed":1.50');
    expect(twice.members).toBe(
      '"messages":[{"role":"user","content":"hi"}],"seed":1.50,"logit_bias":{"5":2},"response_format":{"type":"x"}',
    );
  });

  it('is the last of duplicate keys, which is the one that was checked', () => {
    const twice = request(
      '"temperature":9,"model":"x/y/z","temperature":1,"messages":[{"role":"tool","role":"user"}],"stream":false,"stream":true',
    );
    expect([twice.model, twice.stream]).toEqual(['x/y/z', true]);
    expect(twice.members).toBe('"messages":[{"role":"user"}],"temperature":1');
    const inMessages = readRequest(
      Buffer.from(
        '{"model":"a/b/c","messages":[{"role":"user"},{"content":"a","role":"function","ro\\u006ce":"user"}],"x":{"y":1,"y":2}}',
      ),
    );
    expect(inMessages.members).toBe('"messages":[{"role":"user"},{"content":"a","role":"user"}],"x":{"y":2}');
    expect(refused('"temperature":1,"temperature":9').param).toBe('temperature');
    expect(refused('"n":1,"n":0').param).toBe('n');
  });

  it.each([
    ['a tool', '"tools":[{"type":"web_search","type":"function"}]', '"tools":[{"type":"function"}]'],
    ['a tool behind an escape', '"tools":[{"\\u0074ype":"x","type":"function"}]', '"tools":[{"type":"function"}]'],
    ['a field without a rule', '"x":{"y":{"z":1,"z":2}}', '"x":{"y":{"z":2}}'],
  ])('has %s with a duplicate key written anew, and every other field as it was', (_, twice, once) => {
    const { members } = request(`"fallback":null,${twice},"seed":1.50`);
    expect(members).toBe(`"messages":[{"role":"user","content":"hi"}],"seed":1.50,${once}`);
  });

  it('has the last of duplicate keys in a part of a message', () => {
    const part = '{"type":"file","file":{"file_id":"file-1","file_id":null},"type":"text","text":"a"}';
    const body = `{"model":"a/b/c","seed":1.50,"messages":[{"role":"user","content":[${part}]}],"response_format":{}}`;
    const { members } = readRequest(Buffer.from(body));
    expect(JSON.parse(`{${String(members)}}`)).toEqual({ ...JSON.parse(body), model: undefined });
    expect(members).toContain('"seed":1.50');
    expect(members).not.toContain('file-1');
  });

  it('treats keys named like parts of a prototype as any other', () => {
    const { members, needs, fallback } = request(
      '"__proto__":{"n":5,"fallback":{"models":["x"]}},"constructor":1,"toString":2,"hasOwnProperty":3,"toJSON":4',
    );
    expect(members).toContain(
      '"__proto__":{"n":5,"fallback":{"models":["x"]}},"constructor":1,"toString":2,"hasOwnProperty":3,"toJSON":4',
    );
    expect([needs, fallback]).toEqual([[], null]);
    expect(({} as Record<string, unknown>).n).toBeUndefined();
    expect(request('"stream_options":{"__proto__":{"include_usage":true}}').includeUsage).toBe(false);
  });
});

describe('stream_options and texts', () => {
  it('asks for usage only by include_usage: true, and keeps the other options', () => {
    const asked = request('"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}');
    expect([asked.includeUsage, asked.streamOptionMembers]).toEqual([true, '"include_obfuscation":false']);
    expect(request('"stream_options":{"include_usage":null}')).toMatchObject({
      includeUsage: false,
      streamOptionMembers: '',
    });
    expect(() => request('"stream_options":{"include_usage":"yes"}')).toThrow('`stream_options.include_usage`');
    expect(request()).toMatchObject({ includeUsage: false, streamOptionMembers: '', fallback: null, stream: false });
  });

  it('reads ids as text, escaped or not', () => {
    const body = (id: string) =>
      Buffer.from(`{"model":"${id}","messages":[{"role":"user"}],"fallback":{"models":["${id}"]}}`);
    for (const id of ['a/é/😀', 'a/\\u00e9/\\ud83d\\ude00']) {
      expect(readRequest(body(id))).toMatchObject({ model: 'a/é/😀', fallback: ['a/é/😀'] });
    }
  });
});
