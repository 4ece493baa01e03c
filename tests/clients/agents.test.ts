/**
 * Claude Code and Codex, unchanged, each in a loop of three steps with tools, as the guide says to run them. The programs are not
 * dependencies: LODESTONE_CLAUDE_CODE and LODESTONE_CODEX name them, and without them the tests are skipped by name.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useDoors } from '../doors/door-gateway.js';
import { type AgentFolders, agentIn, commandsOf, runAgent, withAgentFolders } from './agent-run.js';
import { type Step, scriptedModel } from './scripted-agent.js';

const bench = useDoors();
const claudeCode = agentIn('LODESTONE_CLAUDE_CODE');
const codex = agentIn('LODESTONE_CODEX');
const headless = 'Run a task without a terminal';

const routes = {
  chat: { model: 'plain/acme/one/defra', server: 'plain' },
  messages: { model: 'claude/acme/one/defra', server: 'native' },
  responses: { model: 'respond/acme/one/defra', server: 'native' },
} as const;

interface Work {
  readonly program: string;
  readonly commands: string;
  readonly steps: readonly Step[];
}

/** What the agent printed, and what it sent to its model. */
async function work(api: keyof typeof routes, { program, commands, steps }: Work, folders: AgentFolders) {
  const { model, server } = routes[api];
  const { key } = await bench.gateway.createAccount();
  const script = scriptedModel(api, steps);
  bench[server].onRequest((call) => script.answer(call));
  const result = await runAgent({ program, commands, gateway: bench.gateway.url, key, modelFor: () => model }, folders);
  return { result, results: script.results, turns: script.turns };
}

describe.skipIf(!claudeCode)('Claude Code (LODESTONE_CLAUDE_CODE names its program)', () => {
  const headings = ['Set the address, the key and the models', headless];
  const commands = headings.map((heading) => commandsOf('claude-code.md', heading)).join('\n');

  it.each([
    ['messages', 'as they are'],
    ['chat', 'translated'],
  ] as const)('works through three steps on a provider that speaks %s, with requests %s', (api, _how) =>
    withAgentFolders(async (folders) => {
      const file_path = join(folders.work, 'notes.txt');
      const steps: Step[] = [
        [{ name: 'Write', input: { file_path, content: 'Grüße' } }],
        [
          { name: 'Bash', input: { command: 'echo "$(cat notes.txt) aus Köln"', description: 'Show it' } },
          { name: 'Read', input: { file_path } },
        ],
        [{ name: 'Bash', input: { command: 'wc -c < notes.txt' } }],
        'Geschrieben: Grüße',
      ];
      const { result, results, turns } = await work(api, { program: claudeCode!, commands, steps }, folders);
      expect(result).toMatchObject({ status: 0, output: expect.stringContaining('Geschrieben: Grüße') });
      expect(readFileSync(file_path, 'utf8')).toBe('Grüße');
      expect(results).toEqual({
        call_0_0: expect.stringContaining('notes.txt'),
        call_1_0: expect.stringContaining('Grüße aus Köln'),
        call_1_1: expect.stringContaining('Grüße'),
        call_2_0: expect.stringMatching(/\b7\b/),
      });
      expect(turns).toBe(steps.length);
    }),
  );
});

describe.skipIf(!claudeCode)('Claude Code’s subagents', () => {
  const headings = ['Set the address, the key and the models', 'Let subagents use your models', headless];
  const commands = headings
    .map((heading) => commandsOf('claude-code.md', heading))
    .join('\n')
    .replace(',Write', ',Write,Agent');

  it('use the models that the page sets', () =>
    withAgentFolders(async (folders) => {
      const { key } = await bench.gateway.createAccount();
      const input = { description: 'Greet', prompt: 'Greet.', subagent_type: 'general-purpose', model: 'haiku' };
      const main = scriptedModel('messages', [
        [{ name: 'Agent', input: { ...input, run_in_background: false } }],
        'Fertig.',
      ]);
      const sub = scriptedModel('chat', [[{ name: 'Bash', input: { command: 'echo Grüße' } }], 'Grüße von unten']);
      bench.native.onRequest((call) => main.answer(call));
      bench.plain.onRequest((call) => sub.answer(call));
      const modelFor = (id: string) => (id.includes('haiku') ? routes.chat : routes.messages).model;
      const run = { program: claudeCode!, commands, gateway: bench.gateway.url, key, modelFor };
      expect(await runAgent(run, folders)).toMatchObject({ status: 0, output: expect.stringContaining('Fertig.') });
      expect(sub.results).toEqual({ call_0_0: expect.stringContaining('Grüße') });
      expect(main.results).toEqual({ call_0_0: expect.stringContaining('Grüße von unten') });
    }));
});

describe.skipIf(!codex)('Codex (LODESTONE_CODEX names its program)', () => {
  const headings = ['Add Lodestone as a provider', headless];
  const commands = headings.map((heading) => commandsOf('codex.md', heading)).join('\n');

  it.each([
    ['responses', 'as they are'],
    ['chat', 'translated'],
    ['messages', 'translated'],
  ] as const)('works through three steps on a provider that speaks %s, with requests %s', (api, _how) =>
    withAgentFolders(async (folders) => {
      const run = (cmd: string) => ({ name: 'exec_command', input: { cmd } });
      const steps: Step[] = [
        [run('printf Grüße > notes.txt && echo written')],
        [run('echo "$(cat notes.txt) aus Köln"'), run('ls')],
        [run('wc -c < notes.txt')],
        'Geschrieben: Grüße',
      ];
      const { result, results, turns } = await work(api, { program: codex!, commands, steps }, folders);
      expect(result).toMatchObject({ status: 0, output: expect.stringContaining('Geschrieben: Grüße') });
      expect(readFileSync(join(folders.work, 'notes.txt'), 'utf8')).toBe('Grüße');
      expect(results).toEqual({
        call_0_0: expect.stringContaining('written'),
        call_1_0: expect.stringContaining('Grüße aus Köln'),
        call_1_1: expect.stringContaining('notes.txt'),
        call_2_0: expect.stringMatching(/\b7\b/),
      });
      expect(turns).toBe(steps.length);
    }),
  );
});
