import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { aGeneration } from '../../tests/support/generation.js';
import { smallSnapshot } from '../../tests/support/snapshot.js';
import { canonicalJson } from '../base/canonical-json.js';
import { catalogueDigest } from '../catalogue/digest.js';
import { bodyHash, digestCell, proofCell } from './proof-facts.js';
import { receiptText } from './receipt.js';

const log = { origin: 'llm.example.com/log', salt: Buffer.from('salt') };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const fields = [
  ...['account', 'answer_sha256', 'attempts', 'carbon', 'catalogue', 'cloud_act', 'cost_usd', 'country', 'created_at'],
  ...[
    'credential',
    'gates',
    'gateway',
    'generation',
    'locode',
    'notional_usd',
    'policy',
    'prices',
    'project_policy',
    'provider',
  ],
  ...['request_sha256', 'requested_model', 'served_model', 'stream_end', 'usage', 'v'],
];

describe('a receipt', () => {
  const route = smallSnapshot().routes.get('acme/meta/llama/defra')!;
  const parts = {
    projectPolicy: null,
    ...{ policy: digestCell(sha256('policy')), catalogue: digestCell(sha256('catalogue')) },
    ...{ gates: '[["max_carbon",2],["deny_training",0]]', route },
    ...{ requestHash: bodyHash(Buffer.from('question')), answerHash: bodyHash(Buffer.from('answer')) },
  };
  const cell = proofCell(parts);

  it('is canonical JSON with every field', () => {
    const text = receiptText(aGeneration({ proof: cell }), log);
    const receipt = JSON.parse(text);
    expect(text).toBe(canonicalJson(receipt));
    expect(Object.keys(receipt)).toEqual(fields);
    expect(receipt).toMatchObject({
      v: 3,
      ...{ project_policy: null, notional_usd: null, credential: { id: null, owner: 'operator' } },
      gateway: 'llm.example.com/log',
      account: sha256('saltaccount-1'),
      created_at: '2026-03-01T12:00:00.123Z',
      requested_model: 'auto/meta/llama-3.3-70b',
      ...{ country: route.country, cloud_act: route.provider.cloudAct, carbon: route.carbon },
      ...{ policy: sha256('policy'), catalogue: sha256('catalogue') },
      gates: [
        { name: 'max_carbon', removed: 2 },
        { name: 'deny_training', removed: 0 },
      ],
      attempts: [
        { provider: 'zeta', locode: 'global', outcome: 'capacity' },
        { provider: 'acme', locode: 'defra', outcome: 'served' },
      ],
      prices: { input: '1', 'tools.web\t"search"': '0.000496500003', unpriced_tools: '0' },
      usage: { prompt_tokens: 12, completion_tokens: 34, cached_tokens: 5, reasoning_tokens: 6 },
      cost_usd: '0.001000000007',
      stream_end: 'complete',
      ...{ request_sha256: sha256('question'), answer_sha256: sha256('answer') },
    });
  });

  it('has the hash of the project’s policy where it has one', () => {
    const projectCell = proofCell({ ...parts, projectPolicy: digestCell(sha256('project')) });
    const plain = JSON.parse(receiptText(aGeneration({ proof: cell }), log));
    const receipt = receiptText(aGeneration({ proof: projectCell }), log);
    expect(receipt).toBe(
      canonicalJson({ ...plain, generation: JSON.parse(receipt).generation, project_policy: sha256('project') }),
    );
  });

  it('of the first version stays as it was made, without the project’s policy', () => {
    const generation = aGeneration({ proof: cell });
    const first = receiptText(generation, log, 1);
    const second = receiptText(generation, log, 2);
    const { project_policy, credential: _, notional_usd: _usd, ...rest } = JSON.parse(receiptText(generation, log));
    expect(first).toBe(canonicalJson({ ...rest, v: 1 }));
    expect(second).toBe(canonicalJson({ ...rest, project_policy, v: 2 }));
  });

  it('of a record without the cell has nulls, and of a failure no usage', () => {
    const failed = { billed: false, bill: null, servedModel: null, provider: null, locode: null, streamEnd: null };
    const receipt = JSON.parse(receiptText(aGeneration({ ...failed, attempts: [] }), log));
    expect(Object.keys(receipt)).toEqual(fields);
    const absent = fields.filter((name) => receipt[name] === null);
    expect(absent).toEqual([
      ...['answer_sha256', 'carbon', 'catalogue', 'cloud_act', 'country', 'credential', 'gates', 'locode'],
      ...[
        'notional_usd',
        'policy',
        'prices',
        'project_policy',
        'provider',
        'request_sha256',
        'served_model',
        'stream_end',
        'usage',
      ],
    ]);
    expect(receipt.cost_usd).toBe('0');
  });

  it('names both prices of a class that was billed at two', () => {
    const lines = [1_000_000n, 2_500_000n].map((rate) => ({ name: 'input', count: 1, rate }));
    const receipt = JSON.parse(receiptText(aGeneration({ bill: { lines, tier: null } }), log));
    expect(receipt.prices).toEqual({ input: '1', 'input.2': '2.5' });
  });
});

describe('the digest of a catalogue', () => {
  it('is the same for the same content, and another one for another price', () => {
    const digest = catalogueDigest(smallSnapshot());
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(catalogueDigest({ ...smallSnapshot(), loadedAt: 7 })).toBe(digest);
    const [[id, route] = []] = [...smallSnapshot().routes];
    const changed = new Map([[id!, { ...route!, price: { ...route!.price!, input: 1n } }]]);
    expect(catalogueDigest({ ...smallSnapshot(), routes: changed })).not.toBe(digest);
  });

  it('says nothing of credentials', () => {
    const [[id, provider] = []] = [...smallSnapshot().providers];
    const providers = new Map([[id!, { ...provider!, apiKey: 'secret', configured: false }]]);
    expect(catalogueDigest({ ...smallSnapshot(), providers })).toBe(
      catalogueDigest({ ...smallSnapshot(), providers: new Map([[id!, provider!]]) }),
    );
  });
});
