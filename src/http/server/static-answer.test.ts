import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { chosenEncoding, sendStatic, staticContent } from './static-answer.js';

describe('the encoding of unchanging content', () => {
  const both = ['br', 'gzip'];
  it.each([
    [undefined, both, undefined],
    ['', both, undefined],
    ['identity', both, undefined],
    ['gzip, deflate, br', both, 'br'],
    ['gzip', both, 'gzip'],
    ['BR', both, 'br'],
    ['br;q=0, gzip;q=0.5', both, 'gzip'],
    ['br', ['gzip'], undefined],
    ['zstd', both, undefined],
  ])('for "%s" with %j is %s', (accepted, available, expected) => {
    expect(chosenEncoding(accepted, available)).toBe(expected);
  });
});

describe('unchanging content', async () => {
  const content = await staticContent('text/plain; charset=utf-8', 'Hello '.repeat(100));
  const app = Fastify();
  app.get('/', (request, reply) => sendStatic(request, reply, content, 'no-cache'));

  it('is sent plain or compressed, and says that it varies', async () => {
    const plain = await app.inject('/');
    expect(plain.body).toBe('Hello '.repeat(100));
    expect(plain.headers).toMatchObject({ vary: 'accept-encoding', 'cache-control': 'no-cache', etag: content.etag });
    const compressed = await app.inject({ url: '/', headers: { 'accept-encoding': 'br' } });
    expect(compressed.headers['content-encoding']).toBe('br');
    expect(compressed.rawPayload.length).toBeLessThan(100);
  });

  it.each([
    ['the etag', (etag: string) => etag, 304],
    ['a weak one in a list', (etag: string) => `"other", W/${etag}`, 304],
    ['another', () => '"other"', 200],
  ])('is not sent again to a client that has it: %s', async (_, sent, status) => {
    const answer = await app.inject({ url: '/', headers: { 'if-none-match': sent(content.etag) } });
    expect(answer.statusCode).toBe(status);
  });
});
