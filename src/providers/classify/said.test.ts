import { describe, expect, it } from 'vitest';
import { nestedIn } from './nested.js';
import { codeWords, ownWords } from './own-words.js';
import { gather } from './said.js';

const said = (body: unknown, trusting = true) => gather({ body, trusting });

describe('what an upstream said', () => {
  it('is gathered with its codes apart from its words', () => {
    expect(
      said({ error: { message: 'Slow', type: 'rate_limit_error', code: 429 }, request_id: 'daily' }),
    ).toMatchObject({
      codes: ['rate_limit_error', '429'],
      words: 'Slow',
      status: 429,
    });
    expect(said({ code: 'The caller may not do this at all', error: 'No' })).toMatchObject({
      codes: [],
      words: 'The caller may not do this at all\nNo',
    });
  });

  it.each([
    [{ error: { status: 'UNAVAILABLE' } }, 503],
    [{ type: 'error', error: { type: 'overloaded_error' } }, 529],
    [{ error: { code: '404' } }, 404],
    [{ error: { message: 'Error code: 401 - no' } }, 401],
    [{ error: { code: 'odd' } }, undefined],
    [{ error: { code: 'constructor' } }, undefined],
    [{ error: { code: 200 } }, undefined],
  ])('names a status where it does: %j', (body, status) => expect(said(body).status).toBe(status));

  it('holds what a proxy repeats, and the class of what it caught', () => {
    const text =
      "litellm.RateLimitError: OpenAIException - {'error': {'message': 'it\\'s full', 'code': None, 'x': True}}";
    const { codes, words } = said({ error: { message: text } });
    expect(codes).toEqual(['RateLimitError', 'OpenAIException']);
    expect(words).toContain("it's full");
    expect(words).not.toContain('{');
  });

  it('does not hold JSON that may be the caller\u2019s, unless a proxy announces it', () => {
    const inside = '{"message":"full","code":"x"}';
    expect(said({ message: `Bad arguments: ${inside}` }, false)).toMatchObject({ codes: [] });
    expect(said({ message: `OpenAIException - ${inside}` }, false)).toMatchObject({ codes: ['OpenAIException', 'x'] });
    expect(said({ message: `Error code: 400 - ${inside}` }, false).words).toContain('full');
    expect(said({ error: { metadata: { raw: inside } } }, false)).toMatchObject({ codes: ['x'] });
  });
});

describe('an error inside a text', () => {
  it.each([
    ['Error: {"a":1} end', { a: 1 }, 'Error:   end'],
    ['b\'{"a": "it\\\'s"}\'', { a: "it's" }, "b' '"],
    ["x [{'a': None}]", { 0: { a: null } }, 'x  '],
  ])('is found in %s', (text, value, around) => {
    const nested = nestedIn(text);
    expect({ ...(nested?.value as object) }).toEqual(value);
    expect(nested?.around).toBe(around);
  });

  it.each(['no braces', '{x}', '} {', '{"a":', '{"a": }', "{'a': \"b}"])('is not in %s', (text) => {
    expect(nestedIn(text)).toBeUndefined();
  });
});

describe('own words', () => {
  it('leave out quotations, addresses, echoes and names of fields', () => {
    const { own, strictly, quoted } = ownWords(
      'The tool \u201ca b\u201d isn\u2019t at https://x.example/queue in messages.0.queue or rate_limit. Input: c',
    );
    expect(own).toBe("the tool isn't at in messages.0.queue or rate_limit.");
    expect(strictly).toBe("the tool isn't at in or .");
    expect(quoted).toContain('a b');
  });

  it('are those of a text that is one quotation as a whole', () => {
    expect(ownWords('"All of it"').own).toBe('all of it');
  });

  it('are told by a code in any case', () => {
    for (const code of ['rate_limit_exceeded', 'RateLimitExceeded', 'rate-limit.exceeded', 'RATE_LIMIT_EXCEEDED']) {
      expect(codeWords(code)).toBe('rate limit exceeded');
    }
    expect(codeWords('EndpointTPMExceeded')).toBe('endpoint tpm exceeded');
  });
});
