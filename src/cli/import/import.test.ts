import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { entry, secret, useImports } from '../../../tests/support/import-runs.js';
import { main } from '../cli.js';
import type { ReportLine } from './report.js';

const { run, made, names, providers, linesOf, folder } = useImports();

describe('the import of a LiteLLM configuration', () => {
  it('gives each model its name, its defaults and its credential, and says so', async () => {
    const config = {
      model_list: [
        entry('gpt-4o', { model: 'openai/gpt-4o', api_key: 'os.environ/OPENAI_API_KEY', temperature: 0.2 }),
        entry('claude', { model: 'anthropic/claude-sonnet-4-5', api_key: secret }),
      ],
    };
    const { code, out } = await run('litellm', config);
    expect([code, out]).toEqual([0, expect.stringContaining('2 names')]);
    expect(names()).toEqual({
      'gpt-4o': {
        model: 'openai/openai/gpt-4o/global',
        defaults: { temperature: 0.2 },
        note: 'was: openai/gpt-4o',
        imported_from: { system: 'litellm', id: 'gpt-4o' },
      },
      claude: {
        model: 'anthropic/anthropic/claude-sonnet/global',
        note: 'was: anthropic/claude-sonnet-4-5',
        imported_from: { system: 'litellm', id: 'claude' },
      },
    });
    expect(providers()).toEqual({
      openai: { api_key: `\${OPENAI_API_KEY}` },
      anthropic: { api_key: `\${ANTHROPIC_API_KEY}` },
    });
  });

  it('reads a key that stands twice as LiteLLM does, and says so', async () => {
    const source =
      'model_list:\n  - model_name: a\n    model_name: b\n    litellm_params: { model: openai/gpt-4o }\n  - 5\n';
    const { code, out } = await run('litellm', source, '--json');
    expect([code, Object.keys(names())]).toEqual([3, ['b']]);
    const lines = (JSON.parse(out) as { report: ReportLine[] }).report;
    expect(lines).toContainEqual({
      field: 'config.yaml:3',
      verdict: 'changed',
      words: 'the key stands twice in this mapping: the last one holds, as for LiteLLM',
    });
  });

  it('needs no credential of a provider, also where the configuration has the files of an earlier run', async () => {
    const source = {
      model_list: ['A', 'B'].map((name) => entry(name, { model: 'openai/gpt-4o', api_key: `os.environ/${name}` })),
    };
    expect((await run('litellm', source)).code).toBe(0);
    expect(providers().openai).toHaveProperty('keys');
    writeFileSync(join(folder(), 'lodestone.yaml'), 'catalogue: [base.yaml]\ninclude: [made/providers.import.yaml]\n');
    expect((await run('litellm', source)).code).toBe(0);
  });

  it('writes a literal secret to secrets.env alone, for its owner alone', async () => {
    const { out, err } = await run('litellm', {
      model_list: [entry('c', { model: 'anthropic/claude-sonnet', api_key: secret })],
    });
    expect(made('secrets.env')).toBe(`ANTHROPIC_API_KEY='${secret}'\n`);
    expect(statSync(join(folder(), 'made/secrets.env')).mode & 0o777).toBe(0o600);
    const elsewhere = [
      out,
      err,
      made('report.md'),
      made('providers.import.yaml'),
      made('names.import.yaml'),
      made('catalogue.import.yaml'),
    ];
    for (const text of elsewhere) expect(text).not.toContain(secret);
  });

  it('one model at several providers is an auto/ id of these, different models are a chain', async () => {
    const config = {
      model_list: [
        entry('fast', { model: 'openai/gpt-4o' }),
        entry('fast', { model: 'azure/gpt-4o', api_base: 'https://eu.openai.azure.com/' }),
        entry('mixed', { model: 'openai/gpt-4o' }),
        entry('mixed', { model: 'anthropic/claude-sonnet-4-5' }),
      ],
    };
    const report = await linesOf('litellm', config);
    expect(names().fast).toMatchObject({ model: 'auto/openai/gpt-4o', provider: { only: ['openai', 'azure'] } });
    expect(names().mixed).toMatchObject({
      model: 'openai/openai/gpt-4o/global',
      fallback: { models: ['anthropic/anthropic/claude-sonnet/global'] },
    });
    expect(providers().azure).toEqual({ base_url: 'https://eu.openai.azure.com/openai/v1' });
    expect(report.find(({ field }) => field === 'config.yaml model_list[2].model_name')?.verdict).toBe('changed');
  });

  it('a wildcard is a name for each model of the provider', async () => {
    await run('litellm', { model_list: [entry('openai/*', { model: 'openai/*', api_key: 'os.environ/K' })] });
    expect(Object.keys(names())).toEqual(['openai/gpt-4o', 'openai/gpt-4o-mini']);
  });

  it('an own address is a provider of its own; own prices and unknown models are entries of an own catalogue, which loads', async () => {
    const config = {
      model_list: [
        entry('local', {
          model: 'openai/llama-70b',
          api_base: 'http://10.0.0.5:8000/v1',
          input_cost_per_token: 1.5e-7,
          output_cost_per_token: 6e-7,
        }),
        entry('cheap', { model: 'openai/gpt-4o', input_cost_per_token: 0.000002, output_cost_per_token: 0.000008 }),
      ],
    };
    expect((await run('litellm', config)).code).toBe(0);
    const own = parse(made('catalogue.import.yaml')) as Record<string, Record<string, unknown>[]>;
    expect(own.providers).toMatchObject([{ id: 'openai-2', dialect: 'openai', base_url: 'http://10.0.0.5:8000/v1' }]);
    expect(own.models).toMatchObject([
      {
        creator: 'openai',
        model: 'llama-70b',
        routes: [{ provider: 'openai-2', price: { input: 0.15, output: 0.6 } }],
      },
    ]);
    expect(own.routes).toMatchObject([{ model: 'openai/gpt-4o', provider: 'openai', price: { input: 2, output: 8 } }]);
    writeFileSync(
      join(folder(), 'lodestone.yaml'),
      'include: [made/providers.import.yaml]\ncatalogue: [base.yaml, made/catalogue.import.yaml]\n',
    );
    const lines: string[] = [];
    const io = { out: (line: string) => void lines.push(line), err: (line: string) => void lines.push(line) };
    expect([await main(['catalogue', 'check'], { ...io, env: {}, cwd: folder() }), lines.join('\n')]).toEqual([
      0,
      expect.any(String),
    ]);
  });

  it('fallbacks become chains of ids, aliases names, and circles are named', async () => {
    const config = {
      model_list: [entry('a', { model: 'openai/gpt-4o' }), entry('b', { model: 'anthropic/claude-sonnet-4-5' })],
      litellm_settings: { fallbacks: [{ a: ['b', 'nowhere'] }], drop_params: true, cache: true },
      router_settings: { model_group_alias: { c: 'a', x: 'y', y: 'x' }, routing_strategy: 'least-busy' },
    };
    const report = await linesOf('litellm', config);
    expect(names().a).toMatchObject({ fallback: { models: ['anthropic/anthropic/claude-sonnet/global'] } });
    expect(names().c).toMatchObject({ model: 'openai/openai/gpt-4o/global' });
    const not = report.filter(({ verdict }) => verdict === 'not taken').map(({ field, words }) => `${field}: ${words}`);
    expect(not).toEqual([
      'config.yaml litellm_settings.fallbacks[0].a[1]: the model list has no "nowhere"',
      expect.stringMatching(/^config.yaml litellm_settings.cache: /),
      'config.yaml router_settings.model_group_alias.x: the aliases go in a circle',
      'config.yaml router_settings.model_group_alias.y: the aliases go in a circle',
    ]);
  });

  it('names that look like ids, and sections and settings that nobody knows, each have a line that says what to do', async () => {
    const wrong = ['a/b/c', 'auto/x', 'alias/x', 'two words', 'ü', 'x'.repeat(201)];
    const report = await linesOf('litellm', {
      model_list: [...wrong, 'o/k:1'].map((name) => entry(name, { model: 'openai/gpt-4o' })),
      surprise: { a: 1 },
      litellm_settings: { strange: true },
    });
    expect(Object.keys(names())).toEqual(['o/k:1']);
    const of = (part: string) => report.filter(({ field }) => field.endsWith(part));
    expect(of('model_name').map(({ verdict }) => verdict)).toEqual([...wrong.map(() => 'not taken'), 'taken']);
    for (const { words } of of('model_name').slice(0, -1)) expect(words).toContain('rename it');
    expect([of('surprise')[0]?.verdict, of('.strange')[0]?.verdict]).toEqual(['not taken', 'not taken']);
  });

  it('lines of what is missing or has another form stand where they belong', async () => {
    const config = {
      model_list: [
        { litellm_params: { model: 'openai/gpt-4o' } },
        null,
        { model_name: 'b', litellm_params: { timeout: 5 } },
        entry('c', { model: 'openai/gpt-4o' }),
      ],
      router_settings: { fallbacks: [{ nope: ['c'] }, { c: ['c'] }], allowed_fails: 3 },
    };
    const fields = (await linesOf('litellm', config)).map(({ field }) => field.replace('config.yaml ', ''));
    expect(fields).toEqual([
      ...[
        'model_list[0].litellm_params.model',
        'model_list[0].model_name',
        'model_list[1]',
        'model_list[2].model_name',
      ],
      ...['model_list[2].litellm_params.timeout', 'model_list[2].litellm_params.model', 'model_list[3].model_name'],
      ...['model_list[3].litellm_params.model', 'router_settings.fallbacks[0].nope'],
      ...['router_settings.fallbacks[0].nope[0]', 'router_settings.fallbacks[1].c[0]', 'router_settings.allowed_fails'],
    ]);
  });

  it('ends with 3 where something was not taken, and with 0 where that is accepted', async () => {
    const config = { model_list: [entry('a', { model: 'openai/gpt-4o', rpm: 10 })], mcp_servers: {} };
    expect((await run('litellm', config)).code).toBe(3);
    expect((await run('litellm', config, '--accept-gaps')).code).toBe(0);
  });

  it.each([
    ['a: [', 'no YAML'],
    ['- a', 'a mapping'],
    ['just text', 'a mapping'],
  ])('refuses %s', async (content, words) => {
    expect(await run('litellm', content)).toMatchObject({ code: 1, err: expect.stringContaining(words) });
    expect(existsSync(join(folder(), 'made'))).toBe(false);
  });

  it.each(['auto/x', 'alias/x', 'a/b/c', 'with space', 'ü'])(
    'the name %s cannot be taken over, which is said',
    async (name) => {
      const report = await linesOf('litellm', { model_list: [entry(name, { model: 'openai/gpt-4o' })] });
      expect(report.map(({ field, verdict }) => [field, verdict])).toEqual([
        ['config.yaml model_list[0].model_name', 'not taken'],
        ['config.yaml model_list[0].litellm_params.model', 'not taken'],
      ]);
    },
  );
});
