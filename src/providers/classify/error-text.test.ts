import { describe, expect, it } from 'vitest';
import { collectErrorText } from './error-text.js';
import { nestedErrorIn } from './nested-error.js';
import { codeWords, wordsOf } from './words.js';

const textOf = (body: unknown, trusting = true) => collectErrorText({ body, trusting });

describe('the text of an error', () => {
  it('is collected with codes separate from words', () => {
    expect(
      textOf({ error: { message: 'Slow', type: 'rate_limit_error', code: 429 }, request_id: 'daily' }),
    ).toMatchObject({
      codes: ['rate_limit_error', '429'],
      words: 'Slow',
      status: 429,
    });
    expect(textOf({ code: 'The caller may not do this at all', error: 'No' })).toMatchObject({
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
  ])('names a status where it does: %j', (body, status) => expect(textOf(body).status).toBe(status));

  it('includes the error that a proxy repeats, and the class of the exception', () => {
    const text =
      "litellm.RateLimitError: OpenAIException - {'error': {'message': 'it\\'s full', 'code': None, 'x': True}}";
    const { codes, words } = textOf({ error: { message: text } });
    expect(codes).toEqual(['RateLimitError', 'OpenAIException']);
    expect(words).toContain("it's full");
    expect(words).not.toContain('{');
  });

  it('excludes JSON that may be the client\u2019s, unless a proxy introduces it', () => {
    const inside = '{"message":"full","code":"x"}';
    expect(textOf({ message: `Bad arguments: ${inside}` }, false)).toMatchObject({ codes: [] });
    expect(textOf({ message: `OpenAIException - ${inside}` }, false)).toMatchObject({
      codes: ['OpenAIException', 'x'],
    });
    expect(textOf({ message: `Error code: 400 - ${inside}` }, false).words).toContain('full');
    expect(textOf({ error: { metadata: { raw: inside } } }, false)).toMatchObject({ codes: ['x'] });
  });
});

describe('an error inside a text', () => {
  it.each([
    ['Error: {"a":1} end', { a: 1 }, 'Error:   end'],
    ['b\'{"a": "it\\\'s"}\'', { a: "it's" }, "b' '"],
    ["x [{'a': None}]", { 0: { a: null } }, 'x  '],
  ])('is found in %s', (text, value, around) => {
    const nested = nestedErrorIn(text);
    expect({ ...(nested?.value as object) }).toEqual(value);
    expect(nested?.around).toBe(around);
  });

  it.each(['no braces', '{x}', '} {', '{"a":', '{"a": }', "{'a': \"b}"])('is not in %s', (text) => {
    expect(nestedErrorIn(text)).toBeUndefined();
  });
});

describe('the words of a text', () => {
  it('leave out quotations, addresses, echoes and names of fields', () => {
    const { unquoted, withoutNames, all } = wordsOf(
      'The tool \u201ca b\u201d isn\u2019t at https://x.example/queue in messages.0.queue or rate_limit. Input: c',
    );
    expect(unquoted).toBe("the tool isn't at in messages.0.queue or rate_limit.");
    expect(withoutNames).toBe("the tool isn't at in or .");
    expect(all).toContain('a b');
  });

  it('are those of a text that is one quotation as a whole', () => {
    expect(wordsOf('"All of it"').unquoted).toBe('all of it');
  });

  it('are told by a code in any case', () => {
    for (const code of ['rate_limit_exceeded', 'RateLimitExceeded', 'rate-limit.exceeded', 'RATE_LIMIT_EXCEEDED']) {
      expect(codeWords(code)).toBe('rate limit exceeded');
    }
    expect(codeWords('EndpointTPMExceeded')).toBe('endpoint tpm exceeded');
  });
});
