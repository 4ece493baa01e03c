import { mkdtempSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkProof, type ReceiptProof } from '../../../src/proof/check-proof.js';
import { readVerifierKey } from '../../../src/proof/note.js';
import { catalogueOf, startGateway, type TestGateway } from '../../support/gateway.js';
import { proofOf, runCommand, verifyReceipt } from '../../support/proofs.js';
import { scaled } from '../../support/scaled.js';
import { completion, json, type ScriptedUpstream, startUpstream } from '../../support/scripted-upstream.js';
import { SeededRandom } from '../../support/seeded-random.js';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  upstream.onRequest(() => json(completion({ content: 'Hi' })));
  gateway = await startGateway({
    catalogue: catalogueOf({ acme: upstream.url }),
    config: { proof: { origin: 'llm.example.com/log' } },
  });
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const body = { model: 'acme/meta/llama-3.3-70b', messages: [{ role: 'user', content: 'Hi' }] };

async function proofs(count: number): Promise<ReceiptProof[]> {
  const replies = await Promise.all(Array.from({ length: count }, () => gateway.chat(body)));
  return Promise.all(replies.map(({ json: answer }) => proofOf(gateway, answer.id)));
}

const open = (path: string) => gateway.call('GET', path, undefined, { key: null });

async function bytesAt(path: string): Promise<Buffer> {
  return Buffer.from(await (await request(gateway.url + path)).body.arrayBuffer());
}

function saved(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'lodestone-checkpoint-')), 'checkpoint');
  writeFileSync(file, text);
  return file;
}

describe('the log', () => {
  it('is described, signed and readable without a key, and holds', async () => {
    await proofs(5);
    const described = await open('/.well-known/lodestone/log');
    expect(described.json).toEqual({
      origin: 'llm.example.com/log',
      keys: [
        {
          verifier_key: expect.stringMatching(/^llm\.example\.com\/log\+[0-9a-f]{8}\+/),
          from: expect.any(String),
          to: null,
        },
      ],
      checkpoint: `${gateway.url}/log/checkpoint`,
      tiles: `${gateway.url}/log/tile`,
    });
    const checkpoint = await open('/log/checkpoint');
    expect(checkpoint.headers['content-type']).toBe('text/plain; charset=utf-8');
    const [origin, size] = checkpoint.text.split('\n');
    expect(origin).toBe('llm.example.com/log');
    const preflight = await gateway.call('OPTIONS', '/log/checkpoint', undefined, { key: null });
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, '*']);
    expect(preflight.headers['access-control-allow-methods']).toContain('GET');
    const tile = await request(`${gateway.url}/log/tile/0/000.p/${size}`);
    expect(tile.headers['cache-control']).toContain('immutable');
    expect((await tile.body.arrayBuffer()).byteLength).toBe(Number(size) * 32);
    for (const path of ['0/000', `0/000.p/${Number(size) + 1}`, '1/000.p/1', '0/0', 'data/000', '%2e%2e/x']) {
      const missing = await open(`/log/tile/${path}`);
      expect(missing.status).toBe(404);
      if (!path.startsWith('%')) expect(missing.headers['cache-control']).toBe('no-store');
    }
    const verdict = await runCommand(['log', 'verify', gateway.url]);
    expect(verdict.out).toContain('The log holds.');
    expect(verdict.code).toBe(0);
    expect(statSync(join(gateway.files.dataDir, 'log-key')).mode & 0o777).toBe(0o600);
  });

  it('continues every checkpoint that it ever published, and what was rewritten is found', async () => {
    const before = (await open('/log/checkpoint')).text;
    await proofs(3);
    const since = await runCommand(['log', 'verify', '--since', saved(before), gateway.url]);
    expect(since.out).toContain('Nothing was rewritten since');
    expect(since.code).toBe(0);
    const other = await runCommand([
      'log',
      'verify',
      '--since',
      saved(before.replace(/\n\d+\n/, '\n2\n')),
      gateway.url,
    ]);
    expect(other.out).toContain('FAULT The earlier checkpoint has no valid signature');
    expect(other.code).toBe(1);
  });

  it('is compared with what the command printed before, and not with another file', async () => {
    const printed = [
      ['log', 'verify', gateway.url],
      ['log', 'verify', '--json', gateway.url],
    ];
    for (const command of printed) {
      const { out } = await runCommand(command);
      const since = await runCommand(['log', 'verify', '--since', saved(`${out.trimEnd()}\n`), gateway.url]);
      expect(since.out).toContain('Nothing was rewritten since');
      expect(since.code).toBe(0);
    }
    const checkpoint = (await open('/log/checkpoint')).text;
    const wrong: [string, string][] = [
      ['hello\n', 'The --since file is not a checkpoint. The log was not compared.'],
      [
        checkpoint.replace('llm.example.com/log\n', 'other.example/log\n'),
        'a checkpoint of another log, other.example/log.',
      ],
    ];
    for (const [content, says] of wrong) {
      const { out, code } = await runCommand(['log', 'verify', '--since', saved(content), gateway.url]);
      expect(out).toContain(says);
      expect(out).not.toContain('does not hold');
      expect(code).toBe(1);
    }
  });

  it('publishes no checkpoint that is older than a proof that was given out', async () => {
    const published = async () => {
      const reply = await open('/log/checkpoint');
      expect(reply.headers['cache-control']).toBe('no-cache');
      return Number(reply.text.split('\n')[1]);
    };
    for (let round = 0; round < 3; round++) {
      const { json: answer } = await gateway.chat(body);
      let size = 0;
      // Asked for all the time, so that whatever is kept of it is from right before the proof.
      while (size === 0) {
        await published();
        const { status, json: proof } = await gateway.call('GET', `/v1/generation/${answer.id}/proof`);
        if (status === 200) size = proof.tree_size;
      }
      expect(await published()).toBeGreaterThanOrEqual(size);
    }
  });

  it('gives the proof by the id of the request too', async () => {
    const reply = await gateway.chat(body);
    const proof = await proofOf(gateway, reply.json.id);
    const requestId = String(reply.headers['x-request-id']);
    for (const found of [
      await gateway.call('GET', `/v1/generation/${requestId}/proof`),
      await gateway.admin('GET', `/generations/${requestId}/proof`),
    ]) {
      expect(found.json).toMatchObject({ receipt: proof.receipt, leaf_index: proof.leaf_index });
    }
  });

  it('404 where the generation is unknown, 401 without a key', async () => {
    const unknown = await gateway.call('GET', '/v1/generation/gen-unknown/proof');
    expect([unknown.status, unknown.json.error.code]).toEqual([404, 'not_found']);
    expect((await gateway.call('GET', '/v1/generation/gen-unknown/proof', undefined, { key: null })).status).toBe(401);
  });

  it('goes on under a new key, and the old one stays listed', async () => {
    const [old] = await proofs(1);
    const before = (await open('/log/checkpoint')).text;
    const rotated = await gateway.admin('POST', '/log/rotate-key');
    expect(rotated.json).toMatchObject({ object: 'log_key', previous: old!.verifier_key });
    const [next] = await proofs(1);
    expect(next!.verifier_key).toBe(rotated.json.verifier_key);
    const { json: described } = await open('/.well-known/lodestone/log');
    expect(described.keys).toMatchObject([
      { verifier_key: old!.verifier_key, to: expect.any(String) },
      { verifier_key: next!.verifier_key, to: null },
    ]);
    for (const [proof, key] of [
      [old, old!.verifier_key],
      [next, next!.verifier_key],
    ] as const) {
      expect((await verifyReceipt(proof, {}, ['--key', key])).code).toBe(0);
    }
    const malformed = await verifyReceipt(next, {}, ['--key', 'no-key']);
    expect([malformed.code, malformed.out]).toEqual([1, expect.stringContaining('--key is not a verifier key')]);
    const wrong = await verifyReceipt(next, {}, ['--key', old!.verifier_key]);
    expect(wrong.out).toContain('FAULT The proof names another key');
    expect((await runCommand(['log', 'verify', '--since', saved(before), gateway.url])).code).toBe(0);
    expect(readFileSync(join(gateway.files.dataDir, 'log-key'), 'utf8')).toMatch(/^PRIVATE\+KEY\+llm\.example\.com/);
  });

  it('409 where the key to replace is not there; the metrics have size, age and faults', async () => {
    const keyFile = join(gateway.files.dataDir, 'log-key');
    renameSync(keyFile, `${keyFile}.away`);
    const rotated = await gateway.admin('POST', '/log/rotate-key');
    expect([rotated.status, rotated.json.error.code]).toEqual([409, 'key_not_rotated']);
    renameSync(`${keyFile}.away`, keyFile);
    await proofs(1);
    const metrics = (await gateway.call('GET', '/metrics')).text;
    expect(metrics).toMatch(/^lodestone_log_size [1-9]\d*$/m);
    expect(metrics).toMatch(/^lodestone_log_sealer_fault\{reason="key_missing"\} 0$/m);
    expect(metrics).toMatch(/^lodestone_log_unsealed_oldest_seconds /m);
  });
});

describe('a tampered proof', () => {
  const count = scaled(100, 1000);

  it(`${count} random changes of a proof are each found`, async () => {
    const all = await proofs(20);
    const key = readVerifierKey(all[0]!.verifier_key)!;
    const random = new SeededRandom(20);
    for (const proof of all) expect(checkProof(proof, { key }).faults).toEqual([]);
    const missed: string[] = [];
    for (let n = 0; n < count; n++) {
      const proof = random.pick(all);
      const changed = tamper(proof, random, all);
      if (JSON.stringify(changed) === JSON.stringify(proof)) continue;
      if (checkProof(changed, { key }).faults.length === 0) missed.push(JSON.stringify(changed));
    }
    expect(missed).toEqual([]);
    // The command says what does not match.
    const { out, code } = await verifyReceipt({ ...all[0], receipt: all[0]!.receipt.replace(/"v":\d/, '"v":9') });
    expect(out).toContain('FAULT The leaf hash does not match the receipt');
    expect(code).toBe(1);
  });

  it('a changed tile is found', async () => {
    const { verifyLog } = await import('../../../src/proof/check-log.js');
    const random = new SeededRandom(3);
    const checkpoint = (await open('/log/checkpoint')).text;
    const described = (await open('/.well-known/lodestone/log')).json;
    const size = Number(checkpoint.split('\n')[1]);
    const tile = await bytesAt(`/log/tile/0/000.p/${size}`);
    for (let n = 0; n < 20; n++) {
      const changed = Buffer.from(tile);
      changed[random.below(changed.length)]! ^= 1 << random.below(8);
      const source = {
        description: async () => described,
        checkpoint: async () => checkpoint,
        tile: async () => changed,
      };
      expect((await verifyLog(source, null)).faults).toEqual([expect.stringContaining('The tiles lead to the root')]);
    }
  });
});

/** One change anywhere: a character, a number, a hash of the path, or a part of another proof. */
function tamper(proof: ReceiptProof, random: SeededRandom, all: readonly ReceiptProof[]): ReceiptProof {
  const texts = ['receipt', 'leaf_hash', 'checkpoint', 'verifier_key'] as const;
  switch (random.below(6)) {
    case 0: {
      const name = random.pick(texts);
      return { ...proof, [name]: withOtherCharacter(proof[name], random) };
    }
    case 1:
      return { ...proof, leaf_index: random.below(proof.tree_size * 2) };
    case 2:
      return { ...proof, tree_size: random.below(proof.tree_size * 2) };
    case 3: {
      const path = [...proof.inclusion_path];
      const at = random.below(path.length);
      path[at] = withOtherCharacter(path[at]!, random);
      return { ...proof, inclusion_path: path };
    }
    case 4: {
      const path = [...proof.inclusion_path];
      if (random.chance(0.5)) path.splice(random.below(path.length), 1);
      else path.splice(random.below(path.length), 0, random.pick(path));
      return { ...proof, inclusion_path: path };
    }
    default: {
      const name = random.pick(['receipt', 'leaf_hash', 'leaf_index'] as const);
      return { ...proof, [name]: random.pick(all)[name] };
    }
  }
}

function withOtherCharacter(text: string, random: SeededRandom): string {
  const at = random.below(text.length);
  const other = random.pick([...'abcXYZ019+/="{}\n']);
  return text[at] === other
    ? `${text.slice(0, at)}${text.slice(at + 1)}`
    : `${text.slice(0, at)}${other}${text.slice(at + 1)}`;
}
