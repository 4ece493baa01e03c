import { describe, expect, it } from 'vitest';
import { GatewayError } from '../errors/gateway-error.js';
import { dialects } from '../providers/dialects/registry.js';
import { readCatalogueSource, readEntries } from './catalogue-file.js';
import { findModel, findRoute } from './lookup.js';
import { type ExplicitId, parseModelId } from './model-id.js';
import type { Snapshot } from './route.js';
import { buildSnapshot } from './snapshot.js';

const file = readEntries(
  readCatalogueSource(
    'test.yaml',
    `
providers:
  - { id: acme, base_url: "http://a.example" }
  - { id: zeta, base_url: "http://z.example" }
regions:
  - { locode: defra, country: DE }
  - { locode: frpar, country: FR }
models:
  - creator: meta
    model: llama
    routes:
      - { provider: acme, locode: defra }
      - { provider: acme, locode: FRPAR, default: true }
  - creator: meta
    model: tiny
    routes:
      - { provider: zeta, locode: global }
      - { provider: zeta, locode: defra }
`,
  ),
);
const snapshot: Snapshot = buildSnapshot(
  {
    providers: new Map(file.providers),
    regions: new Map(file.regions),
    models: new Map(file.models),
    currencies: new Map(),
    faulty: new Set(),
    refused: [],
    sources: [file.source],
    maintained: new Set(),
    unreadable: [],
  },
  { providerSettings: new Map(), env: {}, dialects, now: 0 },
);

const find = (id: string) => findRoute(snapshot, parseModelId(id) as ExplicitId);
function errorOf(action: () => unknown): GatewayError {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ status: 404, param: 'model' });
    return error as GatewayError;
  }
  throw new Error('nothing was thrown');
}

describe('findRoute', () => {
  it.each([
    ['acme/meta/llama/defra', 'acme/meta/llama/defra'],
    ['acme/meta/llama/DeFrA', 'acme/meta/llama/defra'],
    ['acme/meta/llama', 'acme/meta/llama/frpar'],
    ['zeta/meta/tiny', 'zeta/meta/tiny/global'],
    ['zeta/meta/tiny/global', 'zeta/meta/tiny/global'],
  ])('finds %s; an absent locode is the default region', (id, route) => {
    expect(find(id).id).toBe(route);
  });

  it.each([
    ['nobody/meta/llama', 'model_not_offered', 'no provider "nobody"; "meta/llama" is offered by acme'],
    ['nobody/no/thing', 'model_not_offered', 'no provider "nobody".'],
    ['acme/meta/gone', 'model_not_offered', 'no model "meta/gone"'],
    ['acme/meta/tiny', 'model_not_offered', '"acme" does not offer this model; "meta/tiny" is offered by zeta'],
    ['acme/meta/tiny/defra', 'model_not_offered', '"acme" does not offer this model'],
    ['acme/meta/llama/global', 'global_not_served', 'only in specific regions: defra, frpar'],
    [
      'zeta/meta/tiny/frpar',
      'region_not_served',
      'pins the region frpar, where this model is not served. It is served in: global, defra',
    ],
    ['constructor/meta/llama', 'model_not_offered', 'no provider "constructor"'],
    ['__proto__/__proto__/__proto__', 'model_not_offered', 'no provider "__proto__"'],
    ['acme/../llama', 'model_not_offered', 'no model "../llama"'],
  ])('answers %s with the 404 that says why', (id, condition, message) => {
    const error = errorOf(() => find(id));
    expect(error.condition).toBe(condition);
    expect(error.message).toContain(message);
  });

  it('quotes a hostile id only in part', () => {
    const long = 'x'.repeat(1_000_000);
    for (const id of [`${long}/a/b`, `acme/${long}/b`, `acme/meta/llama/${long}`]) {
      expect(errorOf(() => find(id)).message.length).toBeLessThan(800);
    }
  });
});

describe('findModel', () => {
  it('finds a model, and is a 404 for an unknown one', () => {
    expect(findModel(snapshot, 'meta', 'llama').routes).toHaveLength(2);
    const error = errorOf(() => findModel(snapshot, 'meta', 'none'));
    expect(error.condition).toBe('model_not_offered');
    expect(error.message).toContain('"auto/meta/none" cannot be served: the catalogue has no model "meta/none"');
  });
});
