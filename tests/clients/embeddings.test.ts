import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.js';

let gateway: TestGateway;
let key = '';
beforeAll(async () => {
  gateway = await startGateway();
  key = (await gateway.createAccount()).key;
});
afterAll(() => gateway?.stop());
const client = () => new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
const model = 'sandbox/lodestone/embed';
const lengthOf = (vector: readonly number[]) => Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));

describe('OpenAI’s client, unchanged', () => {
  it('reads vectors, which it asks for in base64 by itself', async () => {
    const { data, usage, ...rest } = await client().embeddings.create({ model, input: ['Grüße', 'Hello', 'Grüße'] });
    expect(data.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(data[0]!.embedding).toHaveLength(384);
    expect(data[0]!.embedding).toEqual(data[2]!.embedding);
    expect(data[0]!.embedding).not.toEqual(data[1]!.embedding);
    for (const { embedding } of data) expect(lengthOf(embedding)).toBeCloseTo(1, 5);
    expect(usage).toMatchObject({ prompt_tokens: expect.any(Number), cost: 0 });
    expect(rest).toMatchObject({ object: 'list', router_metadata: { served_model: `${model}/global` } });
  });

  it('reads vectors as numbers, of the length that it asks for, and of tokens', async () => {
    const asked = { model, dimensions: 16, encoding_format: 'float' as const };
    const { data } = await client().embeddings.create({ ...asked, input: 'Hello' });
    expect(data[0]!.embedding).toHaveLength(16);
    const tokens = await client().embeddings.create({ ...asked, input: [[1, 2], [3]] });
    expect(tokens.data).toHaveLength(2);
  });

  it('throws its own errors', async () => {
    await expect(client().embeddings.create({ model, input: '' })).rejects.toMatchObject({
      status: 400,
      param: 'input',
    });
    const chat = client().embeddings.create({ model: 'sandbox/lodestone/echo', input: 'a' });
    await expect(chat).rejects.toMatchObject({ status: 400, param: 'model' });
  });
});

const hasPython = (() => {
  try {
    execFileSync('python3', ['-c', 'import openai'], { stdio: 'ignore', timeout: 60_000 });
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!hasPython)('OpenAI’s Python client (needs python3 and its package openai)', () => {
  // Not synchronously: the gateway answers in this process.
  it('reads vectors', async () => {
    const program = `
import sys, openai
client = openai.OpenAI(api_key=sys.argv[1], base_url=sys.argv[2], max_retries=0)
for format in ("float", "base64", openai.NOT_GIVEN):
    answer = client.embeddings.create(model="${model}", input=["a", "b"], encoding_format=format)
    print(len(answer.data), len(answer.data[0].embedding) > 0)
`;
    const args = ['-c', program, key, `${gateway.url}/v1`];
    const { stdout } = await promisify(execFile)('python3', args, { timeout: 120_000 });
    expect(stdout).toBe('2 True\n2 True\n2 True\n');
  });
});
