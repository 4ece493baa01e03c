import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pages } from '../../scripts/docs/pages.mjs';
import {
  atGateway,
  curlCall,
  type DocExample,
  examplesOf,
  runScript,
  shellWords,
  unmarkedCurls,
} from '../support/doc-examples.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { shortTimeouts } from '../support/gateway-files.js';
import { makeSecretsKey } from '../support/secrets-key.js';

let gateway: TestGateway;
beforeAll(async () => {
  // One example is a stream that stands still.
  gateway = await startGateway({
    config: { timeouts: { stream_idle: shortTimeouts.stream_idle }, secrets: { key_file: makeSecretsKey() } },
  });
});
afterAll(() => gateway?.stop());

describe.each(pages.map(({ file }) => ({ file, examples: examplesOf(file) })))('docs/$file', ({ file, examples }) => {
  /** The examples of a page build on one another, as a reader would run them. */
  const env: Record<string, string> = {};
  beforeAll(async () => {
    if (examples.length === 0) return;
    const { key, keyId, accountId } = await gateway.createAccount();
    const manager = { name: 'manager', kind: 'management' };
    const { token } = (await gateway.admin('POST', `/accounts/${accountId}/keys`, manager)).json;
    const PROJECT_ID = accountId.replace('acct-', 'proj-');
    Object.assign(env, { LODESTONE_KEY: key, KEY_ID: keyId, PROJECT_ID, LODESTONE_MANAGEMENT_KEY: token });
    if (examples.some(({ code }) => code.includes('$GENERATION'))) env.GENERATION = await sealedGeneration(key);
  });

  it.each(examples)('line $line does what the page says', async (example) => {
    const said = example.language === 'ts' ? await scriptOutput(example) : await curlAnswer(example);
    if (example.has !== undefined) expect(said).toContain(example.has);
  });

  it('runs every curl line that it shows', () => expect(unmarkedCurls(file)).toEqual([]));

  function scriptOutput({ code }: DocExample): Promise<string> {
    return runScript(atGateway(code, gateway.url), env);
  }

  async function curlAnswer({ code, status }: DocExample): Promise<string> {
    const { url, ...call } = curlCall(atGateway(code, gateway.url), env);
    const answer = await fetch(url, { ...call, body: call.body ?? null });
    const text = await answer.text();
    expect(answer.status, text).toBe(status);
    return text;
  }
});

describe('the reading of examples', () => {
  it('splits words as a shell does', () => {
    const code = `curl "http://x/?a=1&b=$KEY" \\\n  -H "A: Bearer $KEY" -d '{"a": "$KEY it is"}'`;
    expect(shellWords(code, { KEY: 'k' })).toEqual([
      'curl',
      'http://x/?a=1&b=k',
      '-H',
      'A: Bearer k',
      '-d',
      '{"a": "$KEY it is"}',
    ]);
    expect(() => shellWords('curl $GONE', {})).toThrow('$GONE is not set');
  });

  it('knows the method, and refuses options that it would get wrong', () => {
    expect(curlCall("curl http://x -d '{}'", {})).toMatchObject({ method: 'POST', url: 'http://x', body: '{}' });
    expect(curlCall('curl -X DELETE http://x', {})).toMatchObject({ method: 'DELETE', body: undefined });
    expect(() => curlCall('curl --data-raw x http://x', {})).toThrow('--data-raw');
  });
});

/** The id of an answer whose receipt has a proof. */
async function sealedGeneration(key: string): Promise<string> {
  const body = { model: 'sandbox/lodestone/echo', messages: [{ role: 'user', content: 'Hello' }] };
  const { id } = (await gateway.chat(body, { key })).json;
  const path = `/v1/generation/${id}/proof`;
  const isSealed = async () => expect((await gateway.call('GET', path, undefined, { key })).status).toBe(200);
  await vi.waitFor(isSealed, { timeout: 60_000, interval: 200 });
  return id;
}
