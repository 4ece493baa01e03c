import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { useDoors } from '../../doors/door-gateway.js';
import { doorCases, upstreamsOf } from '../../doors/doors.js';
import { proofOf, verifyReceipt } from '../../support/proofs.js';
import { json } from '../../support/scripted-upstream.js';

const bench = useDoors();
const passes = doorCases.flatMap((door) => upstreamsOf[door.name]!.map((upstream) => ({ door, upstream })));
const named = passes.map((pass) => [`${pass.door.name} on ${pass.upstream.pin}`, pass] as const);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe.each(named)('%s', (_, { door, upstream }) => {
  it('the receipt of a whole answer is about the bytes that were sent and received', async () => {
    bench[upstream.server].enqueue(upstream.whole('Grüße 😀'));
    const request = JSON.stringify(door.ask(upstream.pin));
    const reply = await bench.gateway.call('POST', door.path, request);
    expect(reply.status, reply.text).toBe(200);
    const id = String(reply.headers['x-generation-id']);
    expect(reply.json.router_metadata.receipt).toBe(id);
    const proof = await proofOf(bench.gateway, id);
    expect(JSON.parse(proof.receipt)).toMatchObject({
      ...{ generation: id, request_sha256: sha256(request), answer_sha256: sha256(reply.text) },
      ...{ served_model: upstream.pin, country: 'DE', cloud_act: false, carbon: 344, gates: [], stream_end: null },
      prices: { input: '3', output: '15' },
      cost_usd: '0.00009',
    });
    const verdict = await verifyReceipt(proof, { request, answer: reply.text });
    expect(verdict.out).toContain('The proof holds.');
    expect(verdict.code).toBe(0);
    const other = await verifyReceipt(proof, { request: `${request} `, answer: reply.text });
    expect(other.out).toContain('FAULT The request does not match');
    expect(other.code).toBe(1);
  });

  it('the receipt of a stream is about all of its frames', async () => {
    bench[upstream.server].enqueue(upstream.stream(['Hel', 'lo ', '😀']));
    const asked = door.ask(upstream.pin);
    const reply = await bench.gateway.stream(asked, { path: door.path });
    expect(reply.status, reply.text).toBe(200);
    const proof = await proofOf(bench.gateway, String(reply.headers['x-generation-id']));
    const request = JSON.stringify({ stream: true, ...asked });
    expect(JSON.parse(proof.receipt)).toMatchObject({
      ...{ request_sha256: sha256(request), answer_sha256: sha256(reply.text), stream_end: 'complete' },
    });
    expect((await verifyReceipt(proof, { request, answer: reply.text })).code).toBe(0);
  });

  it('the receipt of a failure is about the error that was answered', async () => {
    bench[upstream.server].enqueue(json({ error: { message: 'boom' } }, { status: 500 }));
    const request = JSON.stringify(door.ask(upstream.pin));
    const reply = await bench.gateway.call('POST', door.path, request);
    expect(reply.status).toBe(503);
    const { json: list } = await bench.gateway.call('GET', '/v1/generations?limit=1');
    const proof = await proofOf(bench.gateway, list.data[0].id);
    expect(JSON.parse(proof.receipt)).toMatchObject({
      ...{ request_sha256: sha256(request), answer_sha256: sha256(reply.text), served_model: null, usage: null },
      ...{ cost_usd: '0', prices: null, attempts: [{ provider: upstream.pin.split('/')[0] }] },
    });
    expect((await verifyReceipt(proof, { answer: reply.text })).code).toBe(0);
  });
});

describe('a receipt', () => {
  const pin = 'plain/acme/one/defra';
  const chat = doorCases.find(({ name }) => name === 'chat')!;

  it('of a body that another thread reads has its hash too', async () => {
    bench.plain.enqueue(upstreamsOf.chat!.find(({ server }) => server === 'plain')!.whole('Hi'));
    const request = JSON.stringify({ ...chat.ask(pin), messages: [{ role: 'user', content: 'ü '.repeat(150_000) }] });
    const reply = await bench.gateway.call('POST', chat.path, request);
    expect(reply.status, reply.text).toBe(200);
    const { receipt } = await proofOf(bench.gateway, reply.json.id);
    expect(JSON.parse(receipt).request_sha256).toBe(sha256(request));
  });

  it('names the gates in force, and the policy and catalogue by their hashes', async () => {
    const owner = await bench.gateway.createAccount();
    const policy = { max_carbon: 100, deny_cloud_act: true };
    const { json: saved } = await bench.gateway.call('PUT', '/v1/routing-policy', policy, { key: owner.key });
    bench.plain.enqueue(upstreamsOf.chat!.find(({ server }) => server === 'plain')!.whole('Hi'));
    const reply = await bench.gateway.chat(chat.ask('auto/acme/policy-chat'), { key: owner.key });
    expect(reply.status, reply.text).toBe(200);
    const receipt = JSON.parse((await proofOf(bench.gateway, reply.json.id, { key: owner.key })).receipt);
    expect(receipt.gates).toEqual([
      { name: 'deny_cloud_act', removed: 0 },
      { name: 'max_carbon', removed: 1 },
    ]);
    const { object: _, ...own } = saved;
    const { canonicalJson } = await import('../../../src/base/canonical-json.js');
    expect(receipt.policy).toBe(sha256(canonicalJson(own)));
    expect(receipt.catalogue).toMatch(/^[0-9a-f]{64}$/);
    await bench.gateway.admin('POST', '/catalogue/reload');
    bench.plain.enqueue(upstreamsOf.chat!.find(({ server }) => server === 'plain')!.whole('Hi'));
    const again = await bench.gateway.chat(chat.ask('auto/acme/policy-chat'), { key: owner.key });
    const later = JSON.parse((await proofOf(bench.gateway, again.json.id, { key: owner.key })).receipt);
    expect(later.catalogue).toBe(receipt.catalogue);
    expect(later.account).toBe(receipt.account);
    // Nobody else can ask for it, except operators.
    expect((await bench.gateway.call('GET', `/v1/generation/${again.json.id}/proof`)).status).toBe(404);
    expect((await bench.gateway.admin('GET', `/generations/${again.json.id}/proof`)).status).toBe(200);
  });

  it('names the policy and gates with which its route was chosen, where the policy changes before the answer', async () => {
    const { key } = await bench.gateway.createAccount();
    const save = (policy: object) => bench.gateway.call('PUT', '/v1/routing-policy', policy, { key });
    const { object: _, ...own } = (await save({ max_carbon: 100 })).json;
    const answer = upstreamsOf.chat!.find(({ server }) => server === 'plain')!.whole('Hi');
    bench.plain.enqueue(async (exchange) => {
      await save({ deny_cloud_act: true });
      return answer(exchange);
    });
    const reply = await bench.gateway.chat(chat.ask('auto/acme/policy-chat'), { key });
    expect(reply.status, reply.text).toBe(200);
    const receipt = JSON.parse((await proofOf(bench.gateway, reply.json.id, { key })).receipt);
    expect(receipt.gates).toEqual([{ name: 'max_carbon', removed: 1 }]);
    const { canonicalJson } = await import('../../../src/base/canonical-json.js');
    expect(receipt.policy).toBe(sha256(canonicalJson(own)));
  });

  it('of a stream that its caller left is about the bytes that it was sent', async () => {
    const { whole: _, ...upstream } = upstreamsOf.chat!.find(({ server }) => server === 'plain')!;
    bench.plain.enqueue(upstream.stream(['Hel', 'lo'], { hangAfter: 2 }));
    const reply = await bench.gateway.stream(chat.ask(pin), { hangUpAfter: 1 });
    const proof = await proofOf(bench.gateway, String(reply.headers['x-generation-id']));
    expect(JSON.parse(proof.receipt)).toMatchObject({ stream_end: 'client_closed', answer_sha256: sha256(reply.text) });
  });
});
