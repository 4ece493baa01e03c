import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { asLatin1 } from '../base/latin1.js';
import { AnswerHash, hashOfAnswer } from './proof-facts.js';

const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64url');
const long = 'lodestone '.repeat(200_000);

describe('the hash of an answer', () => {
  it('is there at once where the texts are short', () => {
    const hash = new AnswerHash({ gone: false });
    hash.add(asLatin1('data: 1\n\n'));
    expect(hash.end(asLatin1('data: 2\n\n'))).toBe(sha(Buffer.from('data: 1\n\ndata: 2\n\n')));
  });

  it('covers many short texts of any length, with nothing left over at the end', () => {
    for (const length of [1, 7, 250, 2_047, 2_048, 2_049]) {
      const texts = Array.from({ length: 40 }, (_, i) => String.fromCharCode(0x20 + i * 5).repeat(length));
      const hash = new AnswerHash({ gone: false });
      for (const text of texts) hash.add(asLatin1(text));
      expect(hash.end(null), `texts of ${length}`).toBe(sha(Buffer.from(texts.join(''), 'latin1')));
    }
  });

  it('covers long and short texts in their order, and lets other work go on in between', async () => {
    const hash = new AnswerHash({ gone: false });
    const texts = ['first', long, 'between', `${long}\u00e9`, 'last'];
    for (const text of texts.slice(0, -1)) hash.add(asLatin1(text));
    let turns = 0;
    const count = (): void => {
      turns++;
      if (turns < 1_000) setImmediate(count);
    };
    setImmediate(count);
    const result = hash.end(asLatin1(texts.at(-1)!));
    expect(await result).toBe(sha(Buffer.from(texts.join(''), 'latin1')));
    expect(turns).toBeGreaterThan(10);
    expect(await hash.end(null)).toBe(await result);
  });

  it('covers nothing that is sent after the caller has left', async () => {
    const caller = { gone: false };
    const hash = new AnswerHash(caller);
    hash.add(asLatin1(long));
    caller.gone = true;
    hash.add(asLatin1('not sent'));
    expect(await hash.end(asLatin1('not sent'))).toBe(sha(Buffer.from(long)));
  });

  it('of a whole answer is the same in pieces', async () => {
    expect(hashOfAnswer(Buffer.from('é'))).toBe(sha(Buffer.from('é')));
    expect(await hashOfAnswer(Buffer.from(`${long}é`))).toBe(sha(Buffer.from(`${long}é`)));
  });
});
