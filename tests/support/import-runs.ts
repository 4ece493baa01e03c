/** Runs of `lodestone import` in a folder of their own, with a small catalogue. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { parse } from 'yaml';
import { main } from '../../src/cli/cli.js';
import type { ReportLine } from '../../src/cli/import/report.js';

const catalogue = `providers:
  - { id: openai, dialect: openai, base_url: "https://api.openai.com/v1", api_key_env: OPENAI_API_KEY }
  - { id: azure, dialect: azure, base_url: "https://\${AZURE_RESOURCE_NAME}.openai.azure.com/openai/v1", api_key_env: AZURE_KEY }
  - { id: anthropic, dialect: anthropic, base_url: "https://api.anthropic.com/v1", api_key_env: ANTHROPIC_API_KEY }
models:
  - creator: openai
    model: gpt-4o
    routes:
      - { provider: openai, locode: global, default: true, price: { input: 2.5, output: 10, source: page, as_of: 2026-08-01 } }
      - { provider: azure, locode: global, default: true, price: { input: 2.5, output: 10, source: page, as_of: 2026-08-01 } }
  - creator: openai
    model: gpt-4o-mini
    routes: [{ provider: openai, locode: global, price: { input: 0.15, output: 0.6, source: page, as_of: 2026-08-01 } }]
  - creator: anthropic
    model: claude-sonnet
    routes: [{ provider: anthropic, locode: global, upstream_model: claude-sonnet-4-5, price: { input: 3, output: 15, source: page, as_of: 2026-08-01 } }]
`;
export const secret = 'sk-literal-secret-of-the-test';

export const entry = (name: string, params: object, more: object = {}) => ({
  model_name: name,
  litellm_params: params,
  ...more,
});

/** The files of the last run, and the folder that it runs in. */
export function useImports() {
  let cwd: string;
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'lodestone-import-'));
    writeFileSync(join(cwd, 'base.yaml'), catalogue);
    writeFileSync(join(cwd, 'lodestone.yaml'), 'catalogue: [base.yaml]\n');
  });
  afterEach(() => rmSync(cwd, { recursive: true }));

  async function run(system: string, content: unknown, ...args: string[]) {
    const name = system === 'litellm' ? 'config.yaml' : 'source.json';
    writeFileSync(join(cwd, name), typeof content === 'string' ? content : JSON.stringify(content));
    const out: string[] = [];
    const err: string[] = [];
    const io = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line) };
    const code = await main(['import', system, name, '--out', 'made', ...args], { ...io, env: {}, cwd });
    return { code, out: out.join('\n'), err: err.join('\n') };
  }

  const made = (file: string) => readFileSync(join(cwd, 'made', file), 'utf8');
  return {
    run,
    made,
    folder: () => cwd,
    names: () => (parse(made('names.import.yaml')) as { names: Record<string, Record<string, unknown>> }).names,
    providers: () => (parse(made('providers.import.yaml')) as { providers: Record<string, unknown> }).providers,
    linesOf: async (system: string, content: unknown): Promise<ReportLine[]> => {
      const { out } = await run(system, content, '--json');
      return (JSON.parse(out) as { report: ReportLine[] }).report;
    },
  };
}
