import { describe, expect, it } from 'vitest';
import { forSeeds, type SeededRandom } from '../../tests/support/seeded-random.js';
import { chatDoor } from '../doors/chat/chat-door.js';
import { readRequest } from '../doors/chat/read-request.js';
import { messagesDoor } from '../doors/messages/messages-door.js';
import { GatewayError } from '../errors/gateway-error.js';
import { nestingMax, requestExcessOf, tooDeep } from '../wire/json-text.js';
import { checkContentType, Validator } from './validate.js';

function refusal(body: string | Buffer, large = false): GatewayError {
  try {
    readRequest(Buffer.from(body), large);
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    return error as GatewayError;
  }
  throw new Error('accepted');
}
const withMessages = (messages: string): string => `{"model":"a/b/c","messages":${messages}}`;
/** A request whose deepest value is at the given level; the request itself is level 1. */
const nested = (levels: number): string =>
  `{"model":"a/b/c","messages":[{"role":"user"}],"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;

describe('a body', () => {
  it.each(['null', '[]', '"x"', '1', 'true', '', '{', '{"a":}', '{"a":1}x', '\ufeff', "{'a':1}", '\0'])(
    'that is %j is a 400 without param',
    (body) => {
      const error = refusal(body);
      expect([error.status, error.row.code, error.param]).toEqual([400, 'invalid_request_error', undefined]);
    },
  );

  it('that is not UTF-8 is a 400, whatever its encoding is', () => {
    for (const body of [
      Buffer.from('{"a":1}', 'utf16le'),
      Buffer.from('{"model":"é"}', 'latin1'),
      Buffer.from([0xff, 0xfe, 0x7b]),
    ]) {
      expect(refusal(body).status).toBe(400);
    }
  });

  it('with a byte-order mark is read', () => {
    expect(readRequest(Buffer.from(`\ufeff${withMessages('[{"role":"user"}]')}`)).model).toBe('a/b/c');
  });

  it('is not quoted in the message', () => {
    expect(refusal('{"api_key":"topsecret",}').message).not.toContain('topsecret');
    expect(refusal('topsecret').message).not.toContain('topsecret');
    expect(refusal('{"a":"topsecret\u0001"}').message).not.toContain('topsecret');
  });
});

describe('messages', () => {
  it.each(['system', 'developer', 'user', 'assistant'])('may have the role %s', (role) => {
    expect(readRequest(Buffer.from(withMessages(`[{"role":"${role}","content":"x"}]`)))).toBeDefined();
  });

  it.each(['null', '[]'])('that are %s are missing', (messages) => {
    expect(refusal(withMessages(messages))).toMatchObject({
      status: 400,
      param: 'messages',
      condition: 'messages_missing',
    });
  });

  it.each(['1', '"x"', '{}', '[1]', '[null]', '[[]]', '["x"]', '[{"role":"user"},null]'])(
    'may not be %s',
    (messages) => {
      expect(refusal(withMessages(messages))).toMatchObject({ status: 400, param: 'messages' });
    },
  );

  it.each(['"function"', '"User"', '""', 'null', '1', '["user"]', '"constructor"', '"__proto__"'])(
    'may not have the role %s: the message names index and valid roles',
    (role) => {
      const error = refusal(withMessages(`[{"role":"user"},{"role":${role}}]`));
      expect(error).toMatchObject({ status: 400, param: 'messages' });
      expect(error.message).toContain('messages[1]');
      for (const valid of ['system', 'developer', 'user', 'assistant', 'tool']) expect(error.message).toContain(valid);
    },
  );

  it('of the role tool need a tool_call_id', () => {
    for (const id of ['', ',"tool_call_id":null', ',"tool_call_id":""', ',"tool_call_id":1']) {
      expect(refusal(withMessages(`[{"role":"tool","content":"x"${id}}]`))).toMatchObject({
        status: 400,
        param: 'messages',
      });
    }
    expect(readRequest(Buffer.from(withMessages('[{"role":"tool","content":"x","tool_call_id":"c"}]')))).toBeDefined();
  });

  it('have content that is text, parts, null or left out', () => {
    for (const content of ['""', '"x"', '[]', '[{"type":"text"}]', 'null']) {
      expect(readRequest(Buffer.from(withMessages(`[{"role":"user","content":${content}}]`)))).toBeDefined();
    }
    for (const content of ['1', 'true', '{}'])
      expect(refusal(withMessages(`[{"role":"user","content":${content}}]`)).param).toBe('messages');
  });
});

describe('nesting', () => {
  it.each([false, true])('of exactly 128 levels passes, 129 is a 400 (large body: %s)', (large) => {
    expect(readRequest(Buffer.from(nested(nestingMax)), large)).toBeDefined();
    const error = refusal(nested(nestingMax + 1), large);
    expect([error.status, error.param]).toEqual([400, undefined]);
    expect(error.message).toContain('128');
  });

  it('is a 400 for very deep bodies, measured before the parse or after', () => {
    expect(refusal(nested(100_000), true).status).toBe(400);
    expect(refusal(nested(100_000), false).status).toBe(400);
    expect(refusal('['.repeat(200_000), true).status).toBe(400);
    expect(refusal('['.repeat(200_000), false).status).toBe(400);
  });

  it('is measured alike in bytes and in values', () => {
    forSeeds(1_500, (random) => {
      const text = JSON.stringify(randomValue(random, nestingMax - 3 + random.below(7)));
      expect(requestExcessOf(Buffer.from(text))?.isDeep ?? false).toBe(tooDeep(JSON.parse(text) as object));
    });
  });

  it('does not count brackets inside of strings', () => {
    const body = withMessages(`[{"role":"user","content":"${'[{\\"'.repeat(500)}\\\\"}]`);
    expect(readRequest(Buffer.from(body), true)).toBeDefined();
  });
});

const strings = ['[', ']', '{', '}', '"', '\\', '\\"', 'x', '字', ':', ','];

function randomValue(random: SeededRandom, depth: number): unknown {
  const leaf = () => random.pick<unknown>([1, null, true, random.textOf(strings, 6), [], {}]);
  let value: unknown = random.pick<unknown>([[], {}]);
  for (let level = 1; level < depth; level++) {
    if (random.chance(0.5)) value = [leaf(), value, leaf()].slice(random.below(2));
    else value = { [random.textOf(strings, 4)]: leaf(), ['__proto__']: leaf(), inner: value };
  }
  return value;
}

describe('the content type', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json;charset=UTF-8',
    'application/json ; x',
    'application/vnd.api+json',
    'application/json;',
  ])('may be %s', (type) => expect(checkContentType(type)).toBeUndefined());

  it.each([
    undefined,
    '',
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/json5',
    'application/xml',
    'json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=application/json',
    'application/+json',
    'x'.repeat(10_000),
  ])('may not be %s: 400', (type) => {
    try {
      checkContentType(type);
    } catch (error) {
      expect(error).toMatchObject({ status: 400, param: undefined });
      expect((error as Error).message.length).toBeLessThan(400);
      return;
    }
    throw new Error('accepted');
  });

  it('takes at most 8 MiB of short texts into objects; a usual chat, which is only scanned, may have more', () => {
    const texts = (mebibytes: number): string =>
      Array.from({ length: mebibytes * 2_200 }, () => `{"type":"text","text":"${'x'.repeat(450)}"}`).join(',');
    const body = (mebibytes: number): Buffer =>
      Buffer.from(`{"max_tokens":9,${withMessages(`[{"role":"user","content":[${texts(mebibytes)}]}]`).slice(1)}`);
    expect(messagesDoor.readRequest(body(7), true).model).toBe('a/b/c');
    expect(() => messagesDoor.readRequest(body(9), true)).toThrow(/short texts, but at most 8388608 are read/);
    expect(chatDoor.readRequest(body(9), true).model).toBe('a/b/c');
  });

  it('leaves a small body to be validated at once', () => {
    expect(new Validator().validate(chatDoor, Buffer.from(withMessages('[{"role":"user"}]')))).not.toBeInstanceOf(
      Promise,
    );
  });
});
