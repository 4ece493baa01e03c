import { afterAll, describe, expect, it } from 'vitest';
import { asLatin1 } from '../../base/latin1.js';
import { FailureReader } from './failure-reader.js';

const readers: FailureReader[] = [];
afterAll(() => Promise.all(readers.map((reader) => reader.close())));

/** Reads failures one after another, and notes whether the request was looked at. */
function newReader() {
  const reader = new FailureReader();
  readers.push(reader);
  return async (status: number, message: string, text = 'Hi') => {
    const members = `"messages":[{"role":"user","content":${JSON.stringify(text)}}]`;
    const evidence = {
      ...{ status, body: { error: { message } }, headerCodes: [] },
      ...{ providerId: 'acme', baseUrl: 'https://api.acme.example' },
    };
    let isCompared = false;
    const sent = {
      ...{ request: { members, encoding: 'latin1' as const }, dialect: 'openai', upstreamModel: 'llama' },
      get body() {
        isCompared = true;
        return asLatin1(`{${members}}`);
      },
    };
    const { meaning, disputed = false } = await reader.read({ meaning: null, status, quote: message, evidence }, sent);
    return { meaning, disputed, isCompared };
  };
}

describe('a refusal of a credential', () => {
  it.each([
    [401, 'Incorrect API key provided.', 'auth'],
    [403, 'This key may not use the model.', 'auth'],
    [402, 'Insufficient credits.', 'billing'],
  ])('%i “%s” is compared with the request once, and means the same again', async (status, message, meaning) => {
    const read = newReader();
    expect(await read(status, message)).toEqual({ meaning, disputed: false, isCompared: true });
    expect(await read(status, message, 'Tell me of something else.')).toEqual({
      ...{ meaning, disputed: false, isCompared: false },
    });
    expect(await read(status, `${message} Again.`)).toMatchObject({ isCompared: true });
  });
});

it.each([
  [403, 'You have exceeded the daily token quota limit of this key.'],
  [429, 'Rate limit reached.'],
  [500, 'The engine is overloaded.'],
])('%i “%s” is compared with every request', async (status, message) => {
  const read = newReader();
  for (const text of ['Hi', message]) expect(await read(status, message, text)).toMatchObject({ isCompared: true });
});
