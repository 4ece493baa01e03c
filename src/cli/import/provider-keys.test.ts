import { expect, it } from 'vitest';
import { entry, secret, useImports } from '../../../tests/support/import-runs.js';

const { run, made, providers } = useImports();

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
