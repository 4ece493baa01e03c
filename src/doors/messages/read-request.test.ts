import { expect, it } from 'vitest';
import { readMessagesRequest } from './read-request.js';

it('a translated request leaves hints of other APIs out and names them', () => {
  const hints = {
    prompt_cache_key: 'k',
    prompt_cache_options: { mode: 'x' },
    prompt_cache_retention: '24h',
    safety_identifier: 's',
    client_metadata: { a: 'b' },
  };
  const body = { model: 'auto/a/b', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }], ...hints };
  const request = readMessagesRequest(Buffer.from(JSON.stringify(body)));
  const { inexpressible, optional } = request.native!;
  expect([inexpressible, optional.map(({ name }) => name).sort()]).toEqual([[], Object.keys(hints).sort()]);
  expect(String(request.members)).not.toContain('prompt_cache');
});
