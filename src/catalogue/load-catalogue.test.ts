import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../base/logger.js';
import { dialects } from '../providers/dialects/registry.js';
import { CatalogueHolder } from './catalogue-holder.js';
import { CatalogueFault } from './load-catalogue.js';

const directory = mkdtempSync(join(tmpdir(), 'lodestone-catalogue-'));
afterAll(() => rmSync(directory, { recursive: true }));

let count = 0;
function fileOf(content: string): string {
  const path = join(directory, `c${count++}.yaml`);
  writeFileSync(path, content);
  return path;
}

function holderOf(files: string[], env: Record<string, string> = {}): CatalogueHolder {
  const clock = { now: () => 0, monotonicMs: () => 0 };
  return new CatalogueHolder({ files, providerSettings: {}, env, clock, logger: silentLogger, dialects });
}

async function faultsIn(files: string[], env: Record<string, string> = {}): Promise<string[]> {
  const holder = holderOf(files, env);
  const error = await holder.load().then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(CatalogueFault);
  expect(holder.current).toBeNull();
  return [...(error as CatalogueFault).faults];
}

const faultsOf = (...contents: string[]) => faultsIn(contents.map(fileOf));

const base = `
providers:
  - { id: acme, base_url: "http://a.example", api_key_env: ACME_KEY }
regions:
  - { locode: defra, country: DE }
  - { locode: frpar, country: FR }
`;
const model = (routes: string) => `${base}models:\n  - creator: meta\n    model: llama\n    routes:\n${routes}\n`;

describe('catalogue faults name file, line and field', () => {
  const route = (fields: string) => model(`      - { provider: acme, locode: defra, ${fields} }`);
  it.each([
    [
      'unknown field',
      'providers:\n  - id: a\n    base_url: http://a\n    colour: red',
      ':4:5: providers[0].colour: unknown field, expected one of: id, name',
    ],
    [
      'a route of the Responses API alone whose provider does not speak it',
      route('responses_only: true'),
      'routes[0].responses_only: found true, expected it of a route whose `apis`',
    ],
    ['unknown list', 'provider: []', ':1:1: provider: unknown field, expected one of: providers, regions, models'],
    ['no list', 'models: {}', ':1:1: models: found a mapping, expected a list of models'],
    ['no mapping', '[]', ':1:1: file: found a list'],
    [
      'id missing',
      'providers:\n  - base_url: http://a',
      ':2:5: providers[0].id: found nothing, expected a provider id',
    ],
    ['id auto', 'providers: [{ id: auto, base_url: "http://a" }]', 'providers[0].id: found "auto"'],
    ['id pattern', 'providers: [{ id: A/b, base_url: "http://a" }]', 'providers[0].id: found "A/b"'],
    [
      'dialect',
      'providers: [{ id: a, dialect: cobol, base_url: "http://a" }]',
      'providers[0].dialect: found "cobol", expected one of: openai, anthropic',
    ],
    ['base_url missing', 'providers:\n  - id: a', ':2:5: providers[0].base_url: found nothing'],
    ['base_url scheme', 'providers: [{ id: a, base_url: "file:///x" }]', 'providers[0].base_url: found "file:///x"'],
    [
      'locode',
      'regions: [{ locode: frankfurt, country: DE }]',
      'regions[0].locode: found "frankfurt", expected a locode of five',
    ],
    ['region global', 'regions: [{ locode: global, country: DE }]', 'regions[0].locode: found "global"'],
    [
      'latitude',
      'regions: [{ locode: defra, country: DE, lat: 91 }]',
      'regions[0].lat: found 91, expected a number from -90 to 90',
    ],
    [
      'carbon',
      'regions: [{ locode: defra, country: DE, carbon: -1 }]',
      'regions[0].carbon: found -1, expected a number of at least 0',
    ],
    [
      'duplicate',
      'regions:\n  - { locode: defra, country: DE }\n  - { locode: DEFRA, country: DE }',
      ':3:5: regions[1]: found "defra" again, expected it once (line 2 has it)',
    ],
    [
      'training',
      'providers:\n  - id: a\n    base_url: http://a\n    data_policy:\n      trains: sometimes',
      ':5:15: providers[0].data_policy.trains: found "sometimes", expected true or false',
    ],
    [
      'retention',
      'providers: [{ id: a, base_url: "http://a", data_policy: { retention_days: -1 } }]',
      'providers[0].data_policy.retention_days: found -1, expected an integer of at least 0',
    ],
    [
      'certification',
      'providers: [{ id: a, base_url: "http://a", data_policy: { certifications: [soc9] } }]',
      'providers[0].data_policy.certifications[0]: found "soc9", expected one of: iso27001',
    ],
    [
      'fact of another name',
      'providers: [{ id: a, base_url: "http://a", data_policy: { training: false } }]',
      'providers[0].data_policy.training: unknown field, expected one of: trains',
    ],
    [
      'quantization',
      model('      - { provider: acme, locode: defra, quantization: fp5 }'),
      'models[0].routes[0].quantization: found "fp5", expected one of: int4',
    ],
    [
      'no routes',
      'models: [{ creator: a, model: b, routes: [] }]',
      'models[0].routes: found a list, expected at least one route',
    ],
    [
      'model segment',
      'models: [{ creator: a, model: b/c, routes: [1] }]',
      'models[0].model: found "b/c", expected a segment',
    ],
    [
      'unknown provider',
      model('      - { provider: gone, locode: defra }'),
      ':11:21: models[0].routes[0].provider: found "gone", expected a provider',
    ],
    [
      'unknown region',
      model('      - { provider: acme, locode: usnyc }'),
      'models[0].routes[0].locode: found "usnyc", expected a region',
    ],
    [
      'processing of no region',
      model('      - { provider: acme, locode: global, processing: region }'),
      'models[0].routes[0].processing: found region, expected it of a route with a region only',
    ],
    [
      'route twice',
      model('      - { provider: acme, locode: defra }\n      - { provider: acme, locode: DEFRA }'),
      ':12:9: models[0].routes[1]: found a second route "acme/meta/llama/defra"',
    ],
    [
      'two defaults',
      model(
        '      - { provider: acme, locode: defra, default: true }\n      - { provider: acme, locode: frpar, default: true }',
      ),
      'models[0].routes[1].default: found a second default',
    ],
    ['negative price', route('price: { input: -1, output: 1 }'), 'price.input: found -1, expected USD per million'],
    [
      'price decimals',
      route('price: { input: 0.0000001, output: 1 }'),
      'price.input: found 0.0000001, expected USD per million',
    ],
    ['price without output', route('price: { input: 1 }'), 'price.output: found nothing, expected USD per million'],
    [
      'price field',
      route('price: { input: 1, output: 1, image: 1 }'),
      'price.image: unknown field, expected one of: input, output, cached_input',
    ],
    ['capability', route('capabilities: [telepathy]'), 'capabilities[0]: found "telepathy", expected one of: tools'],
    ['quota', route('daily_token_quota: -5'), 'daily_token_quota: found -5, expected an integer of at least 1'],
    ['no list of routes', 'routes: {}', ':1:1: routes: found a mapping, expected a list of routes'],
    [
      'route of an unknown model',
      `${base}routes: [{ model: meta/llama, provider: acme, locode: defra }]`,
      'routes[0].model: found "meta/llama", expected the creator/model of an entry of this file or of an earlier one',
    ],
    [
      'route twice in one file',
      `${model('      - { provider: acme, locode: defra }')}routes: [{ model: meta/llama, provider: acme, locode: defra }]`,
      'routes[0]: found a second route "acme/meta/llama/defra"',
    ],
    ['syntax', 'models: [', 'YAML: '],
  ])('%s', async (_, content, expected) => {
    const faults = await faultsOf(content);
    expect(faults.join('\n')).toContain(expected);
    for (const fault of faults) expect(fault).toMatch(/c\d+\.yaml:\d+:\d+: [^ ]+: /);
  });

  it('lists every fault of every file, and does not blame what refers to a faulty entry', async () => {
    const faults = await faultsOf(
      'providers: [{ id: bad, dialect: cobol }]\nregions: [{ locode: nleem, country: Holland }]',
      'models:\n  - { creator: a, model: b, routes: [{ provider: bad, locode: nleem, carbon: x }, { provider: gone, locode: global }] }',
    );
    expect(faults.map((fault) => fault.split(': ')[1])).toEqual([
      'regions[0].country',
      'providers[0].dialect',
      'models[0].routes[0].carbon',
      'models[0].routes[1].provider',
    ]);
  });

  it('names what does not fit the dialect of a provider beside its other faults', async () => {
    const faults = await faultsOf(
      'providers: [{ id: a, dialect: cobol, base_url: "http://a", colour: red }, { id: b, auth: aws, cloud_act: 7 }]',
    );
    expect(faults.map((fault) => fault.split(': ')[1]).sort()).toEqual([
      'providers[0].colour',
      'providers[0].dialect',
      'providers[1].auth',
      'providers[1].base_url',
      'providers[1].cloud_act',
    ]);
    const odd = await faultsOf('providers: [{ id: a, dialect: 7, base_url: 7 }, 7]');
    expect(odd.map((fault) => fault.split(': ')[1])).toEqual([
      'providers[0].dialect',
      'providers[0].base_url',
      'providers[1]',
    ]);
  });

  it('names a file that cannot be read', async () => {
    const [fault] = await faultsIn([join(directory, 'none.yaml')]);
    expect(fault).toContain('none.yaml:1:1: file: cannot be read (ENOENT)');
  });

  it('refuses a credential that fits into no header, without quoting it', async () => {
    const [fault] = await faultsIn([fileOf(base)], { ACME_KEY: 'a\nsecret' });
    expect(fault).toContain('providers[0].api_key_env: found other characters in ACME_KEY');
    expect(fault).not.toContain('secret');
  });
});

describe('routes that are added to a model from another list', () => {
  const first = model('      - { provider: acme, locode: defra, price: { input: 1, output: 2 } }');

  async function routesOf(...contents: string[]) {
    const holder = holderOf(contents.map(fileOf));
    await holder.load();
    return [...holder.current!.routes.values()].map(({ id, isDefault, price, contextWindow }) => ({
      ...{ id, isDefault, contextWindow },
      input: price?.input,
    }));
  }

  it('come after those of the model, and have its limits', async () => {
    const limited = first.replace('model: llama', 'model: llama\n    context_window: 9000');
    const added = 'routes: [{ model: meta/llama, provider: acme, locode: frpar, price: { input: 3, output: 4 } }]';
    expect(await routesOf(limited, added)).toEqual([
      { id: 'acme/meta/llama/defra', isDefault: true, contextWindow: 9000, input: 1_000_000n },
      { id: 'acme/meta/llama/frpar', isDefault: false, contextWindow: 9000, input: 3_000_000n },
    ]);
  });

  it('replace the route of an earlier file for the same provider and place, and no other', async () => {
    const two = first.replace(/\n$/, '\n      - { provider: acme, locode: frpar, price: { input: 5, output: 6 } }\n');
    const added = 'routes: [{ model: meta/llama, provider: acme, locode: defra, price: { input: 3, output: 4 } }]';
    expect((await routesOf(two, added)).map(({ input }) => input)).toEqual([3_000_000n, 5_000_000n]);
  });

  it('are gone where a later file has the whole model', async () => {
    const added = 'routes: [{ model: meta/llama, provider: acme, locode: frpar }]';
    expect((await routesOf(first, added, first)).map(({ id }) => id)).toEqual(['acme/meta/llama/defra']);
  });

  it('have no second fault where their model is faulty', async () => {
    const faults = await faultsOf(
      `${base}models: [{ creator: meta, model: llama, routes: 1 }]`,
      'routes: [{ model: meta/llama, provider: acme, locode: frpar }]',
    );
    expect(faults).toHaveLength(1);
  });
});
