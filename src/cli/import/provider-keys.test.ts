import { expect, it } from 'vitest';
import { entry, secret, useImports } from '../../../tests/support/import-runs.js';

const { run, made, names, providers } = useImports();

it('several credentials of a provider are its keys, each for the models that it is named beside', async () => {
  const config = {
    model_list: [
      entry('gpt-4o', { model: 'openai/gpt-4o', api_key: 'os.environ/TEAM_A' }),
      entry('gpt-4o', { model: 'openai/gpt-4o', api_key: 'os.environ/TEAM_B' }),
      entry('claude', { model: 'anthropic/claude-sonnet', api_key: secret }),
      entry('claude', { model: 'anthropic/claude-sonnet', api_key: `${secret}-2` }),
    ],
  };
  const { code } = await run('litellm', config);
  expect(code).toBe(0);
  expect(providers()).toEqual({
    openai: {
      keys: [
        { name: 'TEAM_A', api_key: `\${TEAM_A}` },
        { name: 'TEAM_B', api_key: `\${TEAM_B}` },
      ],
    },
    anthropic: {
      keys: [
        { name: 'ANTHROPIC_API_KEY', api_key: `\${ANTHROPIC_API_KEY}` },
        { name: 'ANTHROPIC_API_KEY_2', api_key: `\${ANTHROPIC_API_KEY_2}` },
      ],
    },
  });
  expect(made('secrets.env')).toBe(`ANTHROPIC_API_KEY='${secret}'\nANTHROPIC_API_KEY_2='${secret}-2'\n`);
  config.model_list.push(entry('mini', { model: 'openai/gpt-4o-mini', api_key: 'os.environ/TEAM_B' }));
  await run('litellm', config);
  expect(providers().openai).toEqual({
    keys: [
      { name: 'TEAM_A', api_key: `\${TEAM_A}`, models: ['openai/gpt-4o'] },
      { name: 'TEAM_B', api_key: `\${TEAM_B}`, models: ['openai/gpt-4o', 'openai/gpt-4o-mini'] },
    ],
  });
  expect(made('report.md')).not.toContain('not taken | ');
});

it('the keys of a provider of Bifrost are keys here too, with their weights from 1 on', async () => {
  const key = (name: string, weight: number) => ({ name, value: `env.${name}`, models: ['gpt-4o'], weight });
  const config = { providers: { openai: { keys: [key('A', 0.7), key('B', 0.3)] } } };
  expect((await run('bifrost', config)).code).toBe(0);
  expect(providers().openai).toEqual({
    keys: [
      { name: 'A', api_key: `\${A}`, weight: 2.333333 },
      { name: 'B', api_key: `\${B}` },
    ],
  });
});

it.each([
  ['before', ['os.environ/OPENAI_API_KEY', 'sk-literal']],
  ['behind', ['sk-literal', 'os.environ/OPENAI_API_KEY']],
])('a literal secret %s a variable of its name gets another name, and both are keys', async (_, [first, second]) => {
  const model_list = [
    entry('a', { model: 'openai/gpt-4o', api_key: first }),
    entry('b', { model: 'openai/gpt-4o-mini', api_key: second }),
  ];
  expect((await run('litellm', { model_list })).code).toBe(0);
  const { keys } = providers().openai as { keys: { api_key: string }[] };
  expect(new Set(keys.map(({ api_key }) => api_key))).toEqual(
    new Set(['OPENAI_API_KEY', 'OPENAI_API_KEY_2'].map((name) => `\${${name}}`)),
  );
  expect(made('secrets.env')).toBe("OPENAI_API_KEY_2='sk-literal'\n");
});

it('a key of Bifrost that names no model is taken, with a name for each model that the catalogue has', async () => {
  for (const models of [[], ['*'], ['gpt-4o', '*'], undefined]) {
    const keys = [{ value: 'env.KEY_OF_ALL', weight: 1, ...(models && { models }) }];
    expect((await run('bifrost', { providers: { openai: { keys } } })).code, JSON.stringify(models)).toBe(0);
    expect(providers()).toEqual({ openai: { api_key: `\${KEY_OF_ALL}` } });
    expect(Object.keys(names())).toEqual(['openai/gpt-4o', 'openai/gpt-4o-mini']);
  }
});

it('a key of Bifrost for a provider that nobody knows is not taken', async () => {
  const { code } = await run('bifrost', { providers: { unheard: { keys: [{ value: 'env.K', models: [] }] } } });
  expect([code, made('report.md')]).toEqual([3, expect.stringContaining('no model of this key was taken')]);
});

it('a credential that is a number is taken as text, and one that no header can have is not taken', async () => {
  const params = { model: 'openai/gpt-4o', api_base: 'http://10.0.0.5/v1' };
  const numbered = await run('litellm', { model_list: [entry('a', { ...params, api_key: 1234 })] });
  expect([numbered.code, made('secrets.env')]).toEqual([0, "OPENAI_2_API_KEY='1234'\n"]);
  for (const api_key of ['sk-\u00fc', 'sk-two\nlines']) {
    const { code } = await run('litellm', { model_list: [entry('a', { ...params, api_key })] });
    expect([code, made('report.md'), providers()]).toEqual([
      3,
      expect.stringContaining('api_key | not taken | no credential of visible ASCII characters'),
      { 'openai-2': {} },
    ]);
  }
});
