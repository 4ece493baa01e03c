import { describe, expect, it, vi } from 'vitest';
import { plainRequest, TranslatedRequest } from './translated-request.js';

const read = {
  model: 'acme/m',
  stream: false,
  responseFormat: 'json_schema',
  fallback: null,
  encoding: 'latin1',
  outputMax: 5,
  extras: undefined,
  provider: undefined,
  sessionId: 's',
  cacheKey: undefined,
} as const;
const native = { api: 'messages', body: '{"model":"acme/m"}', modelStart: 9, modelEnd: 17, names: {} } as const;
const translation = { members: '"a":1', marked: '"a":2', partial: 3, inexpressible: [], optional: [], echo: 'e' };

describe('a request of another API', () => {
  it('is translated once, when the translation is asked for', () => {
    const translate = vi.fn(() => translation);
    const request = new TranslatedRequest(read, native, translate);
    expect([request.model, request.needs, request.native.body]).toEqual(['acme/m', ['response_format'], native.body]);
    expect(translate).not.toHaveBeenCalled();
    expect([request.members, request.partial, request.native.marked, request.native.echo]).toEqual([
      ...['"a":1', 3],
      ...['"a":2', 'e'],
    ]);
    expect(translate).toHaveBeenCalledTimes(1);
  });

  it('can be copied and sent to another thread as a plain request', () => {
    const request = new TranslatedRequest(read, native, () => translation);
    const { members, partial, ...rest } = structuredClone(plainRequest(request));
    expect({ members, partial }).toEqual({ members: '"a":1', partial: 3 });
    expect(rest).toMatchObject({ ...read, native: { ...native, marked: '"a":2', echo: 'e' } });
    const copy = { ...plainRequest(request), strict: true };
    expect(plainRequest(copy)).toBe(copy);
  });
});
