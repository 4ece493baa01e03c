import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newSigner } from '../../../src/proof/note.js';
import { catalogueOf, startGateway, type TestGateway } from '../../support/gateway.js';
import { proofOf, verifyReceipt } from '../../support/proofs.js';
import { completion, json, type ScriptedUpstream, startUpstream } from '../../support/scripted-upstream.js';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  upstream.onRequest(() => json(completion({ content: 'Hi' })));
  gateway = await startGateway({
    catalogue: catalogueOf({ acme: upstream.url }),
    config: {
      proof: { key_file: 'own-key', hash_bodies: false },
      server: { base_url: 'https://llm.example.com:8443' },
    },
  });
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const body = { model: 'acme/meta/llama-3.3-70b', messages: [{ role: 'user', content: 'Hi' }] };

it('404 receipt_not_sealed without the key file, while requests are served; with the file everything is sealed', async () => {
  const first = await gateway.chat(body);
  expect(first.status, first.text).toBe(200);
  expect(first.json.router_metadata.receipt).toBe(first.json.id);
  const waiting = await gateway.call('GET', `/v1/generation/${first.json.id}/proof`);
  expect([waiting.status, waiting.json.error]).toMatchObject([404, { type: 'not_found', code: 'receipt_not_sealed' }]);
  expect((await gateway.admin('GET', `/generations/${first.json.id}/proof`)).json.error.code).toBe(
    'receipt_not_sealed',
  );
  expect((await gateway.call('GET', '/log/checkpoint', undefined, { key: null })).status).toBe(404);
  expect((await gateway.call('GET', '/.well-known/lodestone/log', undefined, { key: null })).status).toBe(404);
  await expect
    .poll(async () => (await gateway.call('GET', '/metrics')).text, { timeout: 60_000 })
    .toMatch(/^lodestone_log_sealer_fault\{reason="key_missing"\} 1$/m);
  writeFileSync(join(gateway.files.folder, 'own-key'), newSigner('llm.example.com:8443/log').text);
  const proof = await proofOf(gateway, first.json.id);
  expect((await verifyReceipt(proof)).code).toBe(0);
  expect(JSON.parse(proof.receipt)).toMatchObject({ request_sha256: null, answer_sha256: null });
});

it('without hashes of bodies a whole answer has the leaf hash of its receipt', async () => {
  const reply = await gateway.chat(body);
  const proof = await proofOf(gateway, reply.json.id);
  expect(reply.json.router_metadata.receipt).toBe(proof.leaf_hash);
  const checked = await verifyReceipt(proof, { answer: reply.text });
  expect(checked.out).toContain('FAULT The receipt has no hash of the answer');
});
