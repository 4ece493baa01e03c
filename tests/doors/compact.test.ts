/** Compacting a conversation: what providers that offer it make comes back as it is, and nobody else makes anything up. */
import { expect, it } from 'vitest';
import { openApiDocument } from '../../src/http/openapi/document.js';
import { Conformance } from '../support/openapi-conformance.js';
import { json } from '../support/scripted-upstream.js';
import { useDoors } from './door-gateway.js';

const bench = useDoors();
const path = '/v1/responses/compact';
const model = 'respond/acme/one/defra';
const input = [{ type: 'message', role: 'user', content: 'We meet on Tuesday — é.' }];
const compacted = {
  id: 'cmp_1',
  object: 'response.compaction',
  created_at: 1_700_000_000,
  output: [...input, { id: 'cmp_2', type: 'compaction', encrypted_content: 'c2VjcmV0' }],
  usage: { input_tokens: 10, output_tokens: 4, total_tokens: 14, input_tokens_details: { cached_tokens: 0 } },
};

it('asks the provider, bills it, and gives its answer back but for what is added', async () => {
  const { gateway, native } = bench;
  native.enqueue(json(compacted));
  const body = { model, input, instructions: 'Be brief.', prompt_cache_key: 'k' };
  const reply = await gateway.call('POST', path, body);
  expect(reply.status, reply.text).toBe(200);
  expect(native.calls[0]).toMatchObject({ path, json: { ...body, model: 'upstream-model' } });
  expect(native.calls[0]!.json).not.toHaveProperty('store');
  const { post } = openApiDocument.paths[path]!;
  expect(new Conformance(openApiDocument).faultsOf('post', path, post!, reply)).toEqual([]);
  const { router_metadata, usage, ...rest } = reply.json;
  const { cost, cost_details, ...figures } = usage;
  expect({ ...rest, usage: figures }).toEqual(compacted);
  expect(cost).toBeCloseTo((10 * 3 + 4 * 15) / 1e6, 12);
  expect(cost_details).toBeDefined();
  expect(router_metadata).toMatchObject({ served_model: model });
});

it('goes on from what came back', async () => {
  const { gateway, native } = bench;
  native.enqueue(json({ id: 'resp_1', object: 'response', status: 'completed', output: [], usage: compacted.usage }));
  const next = [...compacted.output, { role: 'user', content: 'When?' }];
  expect((await gateway.call('POST', '/v1/responses', { model, input: next })).status).toBe(200);
  expect(native.calls[0]!.json).toMatchObject({ input: next });
});

it('auto takes a provider that offers it, and a pin of another says what to do', async () => {
  const { gateway, native, plain } = bench;
  native.enqueue(json(compacted));
  const walked = await gateway.call('POST', path, { model: 'auto/acme/one', input });
  expect(walked.json.router_metadata, walked.text).toMatchObject({ served_model: model });
  const pinned = await gateway.call('POST', path, { model: 'plain/acme/one/defra', input });
  expect(pinned).toMatchObject({ status: 400, json: { error: { param: 'model' } } });
  expect(pinned.json.error.message).toContain('plain does not compact conversations');
  expect(plain.calls).toHaveLength(0);
});

it('refuses what a response refuses', async () => {
  const { gateway, native } = bench;
  const refused = async (body: object) => {
    const { status, json: answer } = await gateway.call('POST', path, body as never);
    return [status, answer.error.param];
  };
  expect((await refused({ input }))[0]).toBe(400);
  expect(await refused({ model })).toEqual([400, 'input']);
  expect(await refused({ model, input, stream: true })).toEqual([400, 'stream']);
  expect(await refused({ model, input, previous_response_id: 'resp_1' })).toEqual([400, 'previous_response_id']);
  expect(await refused({ messages: [], model })).toEqual([400, 'input']);
  expect((await gateway.call('GET', path)).status).toBe(405);
  expect(native.calls).toHaveLength(0);
});
