import { describe, expect, it } from 'vitest';
import { secret, useImports } from '../../../tests/support/import-runs.js';

const { run, made, names, linesOf } = useImports();

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
      mcp: {},
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

  it('conditions are not taken', async () => {
    const report = await linesOf('portkey', { strategy: { mode: 'conditional' }, targets: [] });
    expect(report.map(({ field, verdict }) => [field, verdict])).toEqual([
      ['source.json strategy', 'not taken'],
      ['source.json targets', 'not taken'],
    ]);
  });
});
