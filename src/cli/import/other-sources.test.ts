import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { secret, useImports } from '../../../tests/support/import-runs.js';

const { run, made, names, linesOf, folder } = useImports();

/** Gives the configuration a file of names that were there before. */
function haveNames(file: string, ...names: string[]) {
  const lines = names.map((name) => `  ${name}`);
  mkdirSync(join(folder(), 'own'), { recursive: true });
  writeFileSync(join(folder(), file), `names:\n${lines.join('\n')}\n`);
  writeFileSync(join(folder(), 'lodestone.yaml'), `catalogue: [base.yaml]\nnames: [${file}]\n`);
}

describe('the import from Bifrost', () => {
  it('hashes virtual keys, and makes customers accounts and teams projects', async () => {
    const config = {
      providers: { openai: { keys: [{ name: 'k', value: 'env.OPENAI_API_KEY', models: ['gpt-4o'], weight: 1 }] } },
      governance: {
        budgets: [{ id: 'b', max_limit: 10.5, reset_duration: '1M', current_usage: 1.25 }],
        rate_limits: [{ id: 'r', request_max_limit: 60, request_reset_duration: '1m' }],
        customers: [{ id: 'c1', name: 'Acme' }],
        teams: [{ id: 't1', name: 'Search', customer_id: 'c1', budget_id: 'b', rate_limit_id: 'r' }],
        virtual_keys: [{ id: 'v1', name: 'app', value: 'sk-bf-123456', team_id: 't1', is_active: true }],
      },
    };
    const { code, out } = await run('bifrost', config, '--json', '--accept-gaps');
    expect(code).toBe(0);
    expect(JSON.parse(out).counts).toEqual({ providers: 1, names: 1, accounts: 1, projects: 1, people: 0, keys: 1 });
    expect(names()).toMatchObject({ 'openai/gpt-4o': { model: 'openai/openai/gpt-4o/global' } });
    expect(out + made('report.md')).not.toContain('sk-bf-123456');
  });

  it('the same key in two teams is taken once, and a value that only Bifrost can read is not', async () => {
    const key = (id: string, team_id: string, value: string) => ({ id, team_id, name: id, value });
    const teams = [{ id: 't1' }, { id: 't2' }];
    const virtual_keys = [key('a', 't1', secret), key('b', 't2', secret), key('c', 't1', 'env.KEY'), { id: 'd' }];
    const report = await linesOf('bifrost', { governance: { teams, virtual_keys } });
    const outcomes = report.filter(({ field }) => /virtual_keys\[\d\]$/.test(field)).map(({ verdict }) => verdict);
    expect(outcomes).toEqual(['taken', 'not taken', 'not taken', 'not taken']);
    expect(report.find(({ field }) => field.endsWith('virtual_keys[1]'))?.words).toContain('the same value');
  });

  it('has every field under its own name, in the order of the source', async () => {
    const keys = [{ value: 'env.A', models: ['gpt-4o', 'gpt-4o-mini'], weight: 1 }];
    const report = await linesOf('bifrost', {
      providers: { openai: { keys, network_config: { base_url: 'http://127.0.0.1:9/v1', max_retries: 3 } } },
      governance: {
        budgets: [{ id: 'b', max_limit: 1, reset_duration: '1h' }],
        rate_limits: [{ id: 'r', token_max_limit: 1, token_reset_duration: '1h' }],
        virtual_keys: [{ id: 'v', value: 'sk-bf-1', budget_id: 'b', rate_limit_id: 'r', surprise: true }],
        routing_rules: [{ id: 'x' }],
      },
      mcp: { servers: [] },
    });
    expect(report.map(({ field, verdict }) => `${field.replace('source.json ', '')}: ${verdict}`)).toEqual([
      'providers.openai.keys[0].value: taken',
      'providers.openai.keys[0].models[0]: taken',
      'providers.openai.keys[0].models[1]: taken',
      'providers.openai.keys[0].weight: changed',
      'providers.openai.network_config.base_url: taken',
      'providers.openai.network_config.max_retries: changed',
      'governance.budgets[0]: taken',
      'governance.budgets[0].reset_duration: changed',
      'governance.rate_limits[0]: taken',
      'governance.rate_limits[0].token_reset_duration: not taken',
      'governance.virtual_keys[0]: taken',
      'governance.virtual_keys[0].surprise: not taken',
      'governance.routing_rules: not taken',
      'mcp: not taken',
    ]);
  });
});

describe('a name that the gateway has from elsewhere', () => {
  const openai = { keys: [{ value: 'env.A', models: ['gpt-4o', 'gpt-4o-mini'] }] };
  const single = { provider: 'openai', override_params: { model: 'gpt-4o' } };

  it('stays, and the model of Bifrost is not taken', async () => {
    haveNames('own.yaml', 'openai/gpt-4o: { model: anthropic/anthropic/claude-sonnet/global }');
    const report = await linesOf('bifrost', { providers: { openai } });
    expect(Object.keys(names())).toEqual(['openai/gpt-4o-mini']);
    const line = report.find(({ field }) => field === 'source.json providers.openai.keys[0].models[0]');
    expect(line).toMatchObject({ verdict: 'not taken', words: expect.stringContaining('from elsewhere') });
  });

  it('stays, and the config of Portkey is not taken', async () => {
    haveNames('own.yaml', 'source: { model: anthropic/anthropic/claude-sonnet/global }');
    const report = await linesOf('portkey', single);
    expect(names()).toEqual({});
    const line = report.find(({ field }) => field === 'source.json');
    expect(line).toMatchObject({ verdict: 'not taken', words: expect.stringContaining('from elsewhere') });
  });

  it('is one that another system was imported with, too', async () => {
    const was = 'imported_from: { system: litellm, id: source }';
    haveNames('own/names.import.yaml', `source: { model: anthropic/anthropic/claude-sonnet/global, ${was} }`);
    expect((await run('portkey', single)).code).toBe(3);
    expect(names()).toEqual({});
    haveNames(
      'own/names.import.yaml',
      `source: { model: openai/openai/gpt-4o/global, ${was.replace('litellm', 'portkey')} }`,
    );
    expect((await run('portkey', single)).code).toBe(0);
  });

  it('of two configs with one name the first is taken', async () => {
    const other = { provider: 'anthropic', override_params: { model: 'claude-sonnet-4-5' } };
    writeFileSync(join(folder(), 'other.json'), JSON.stringify(other));
    const { code, out } = await run('portkey', single, 'other.json', '--name', 'both', '--json');
    expect([code, names()]).toMatchObject([3, { both: { model: 'openai/openai/gpt-4o/global' } }]);
    const line = JSON.parse(out).report.find(({ field }: { field: string }) => field === 'other.json');
    expect(line).toMatchObject({ verdict: 'not taken', words: expect.stringContaining('"both"') });
  });
});

describe('the import from Portkey', () => {
  it('a fallback is a chain, and a name is that of the file', async () => {
    const config = {
      strategy: { mode: 'fallback' },
      targets: [
        { provider: 'openai', api_key: secret, override_params: { model: 'gpt-4o', temperature: 0 } },
        { provider: 'anthropic', override_params: { model: 'claude-sonnet-4-5' } },
      ],
      ...Object.fromEntries([['retry', { attempts: 3 }]]),
    };
    const { code } = await run('portkey', config);
    expect(code).toBe(3);
    expect(names().source).toMatchObject({
      model: 'openai/openai/gpt-4o/global',
      fallback: { models: ['anthropic/anthropic/claude-sonnet/global'] },
      defaults: { temperature: 0 },
    });
  });

  it('has every field under its own name, in the order of the source', async () => {
    const target = (model: string, weight: number) => ({ provider: 'openai', weight, override_params: { model } });
    const balanced = { targets: [target('gpt-4o', 1), target('gpt-4o-mini', 3)], strategy: { mode: 'loadbalance' } };
    const lines = async (config: object) =>
      (await linesOf('portkey', config)).map(
        ({ field, verdict }) => `${field.replace('source.json ', '')}: ${verdict}`,
      );
    expect(await lines({ ...balanced, cache: { mode: 'simple' } })).toEqual([
      'targets[0].provider: taken',
      'targets[0].weight: not taken',
      'targets[0].override_params.model: taken',
      'targets[1].provider: taken',
      'targets[1].weight: not taken',
      'targets[1].override_params.model: taken',
      'strategy: changed',
      'cache: not taken',
    ]);
    expect(names().source).toMatchObject({ model: 'openai/openai/gpt-4o-mini/global' });
    const override_params = { model: 'gpt-4o', max_tokens: 5 };
    expect(await lines({ provider: 'openai', api_key: 'env.A', override_params, extra: 1 })).toEqual([
      'source.json: taken',
      'provider: taken',
      'api_key: taken',
      'override_params.model: taken',
      'override_params.max_tokens: taken',
      'extra: not taken',
    ]);
  });

  it('a name has the overrides of its first target, and what others have beside them is not taken', async () => {
    const target = (model: string, more: object) => ({ provider: 'openai', override_params: { model, ...more } });
    const report = await linesOf('portkey', {
      strategy: { mode: 'fallback' },
      targets: [
        { provider: 'unknown', override_params: { model: 'x', seed: 1 } },
        target('gpt-4o', { temperature: 0, top_p: 0.5, max_tokens: 5 }),
        target('gpt-4o-mini', { temperature: 1, seed: 2, max_tokens: 5, n: 1 }),
      ],
      override_params: { n: 1, user: 'u', stream: true, aws_secret_access_key: secret },
    });
    const verdictOf = (part: string) => report.find(({ field }) => field === `source.json ${part}`)?.verdict;
    expect(names().source!.defaults).toEqual({ n: 1, user: 'u', temperature: 0, top_p: 0.5, max_tokens: 5 });
    expect({
      ...{
        unused: verdictOf('targets[0].override_params.seed'),
        other: verdictOf('targets[2].override_params.temperature'),
      },
      ...{
        added: verdictOf('targets[2].override_params.seed'),
        same: verdictOf('targets[2].override_params.max_tokens'),
      },
      ...{ ofBoth: verdictOf('targets[1].override_params.max_tokens'), ofAll: verdictOf('override_params.user') },
      ...{
        ofFirst: verdictOf('targets[1].override_params.top_p'),
        repeated: verdictOf('targets[2].override_params.n'),
      },
      ...{ stream: verdictOf('override_params.stream'), secret: verdictOf('override_params.aws_secret_access_key') },
    }).toEqual({
      ...{ unused: 'not taken', other: 'not taken', added: 'not taken', same: 'taken' },
      ...{ ofBoth: 'taken', ofAll: 'taken', ofFirst: 'changed', repeated: 'taken' },
      ...{ stream: 'not taken', secret: 'not taken' },
    });
    expect(made('names.import.yaml') + made('report.md')).not.toContain(secret);
  });

  it('of several targets `single` uses the first, and an unknown mode is not taken', async () => {
    const targets = ['gpt-4o', 'gpt-4o-mini'].map((model) => ({ provider: 'openai', override_params: { model } }));
    const config = (mode: string, more: object = {}) => ({ strategy: { mode, ...more }, targets });
    const verdicts = async (source: object) =>
      (await linesOf('portkey', source)).map(
        ({ field, verdict }) => `${field.replace('source.json ', '')}: ${verdict}`,
      );
    expect(await verdicts(config('single'))).toEqual([
      ...['strategy: taken', 'targets[0].provider: taken', 'targets[0].override_params.model: taken'],
      'targets[1]: changed',
    ]);
    expect(names().source).not.toHaveProperty('fallback');
    expect(await verdicts(config('fallback', { on_status_codes: [429] }))).toContain(
      'strategy.on_status_codes: changed',
    );
    expect(await verdicts(config('roulette'))).toContain('strategy.mode: not taken');
    expect(names()).toEqual({});
  });

  it('conditions are not taken', async () => {
    const report = await linesOf('portkey', { strategy: { mode: 'conditional' }, targets: [] });
    expect(report.map(({ field, verdict }) => [field, verdict])).toEqual([
      ['source.json strategy', 'not taken'],
      ['source.json targets', 'not taken'],
    ]);
  });
});

it.each([
  ['portkey', { provider: 'openai', override_params: { model: 'gpt-4o', max_tokens: '77', temperature: 3, seed: 1 } }],
  [
    'litellm',
    {
      model_list: [
        {
          model_name: 'source',
          litellm_params: { model: 'openai/gpt-4o', max_tokens: 'os.environ/MAX', temperature: 3, seed: 1 },
        },
      ],
    },
  ],
])('%s: a value that no request may have is no default, and is not taken', async (system, config) => {
  const report = await linesOf(system, config);
  const gaps = report.filter(({ verdict }) => verdict === 'not taken');
  expect(gaps.map(({ field }) => field.split('.').at(-1))).toEqual(['max_tokens', 'temperature']);
  expect(names().source!.defaults).toEqual({ seed: 1 });
});

it.each([
  ['bifrost', { providers: {}, governance: { budgets: [], teams: null } }],
  ['portkey', { provider: 'openai', override_params: { model: 'gpt-4o' }, metadata: {} }],
])('%s: what is empty is no gap, also behind a byte-order mark', async (system, config) => {
  expect((await run(system, `\uFEFF${JSON.stringify(config)}`)).code).toBe(0);
});
