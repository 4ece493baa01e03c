/** docs/guide/providers.md against the catalogue that it describes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dataPoliciesPage, renderDataPoliciesPage } from '../../scripts/data-policies-page.mjs';
import { renderProvidersPage } from '../../scripts/providers-page.mjs';
import { countsOf } from '../../src/catalogue/counts.js';
import type { Snapshot } from '../../src/catalogue/route.js';
import { main } from '../../src/cli/cli.js';
import { reloadText } from '../../src/cli/commands/catalogue.js';
import { builtinSnapshot, credentials, realRoutes } from './snapshots.js';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/guide/providers.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'lodestone-guide-'));
let snapshot: Snapshot;
beforeAll(async () => {
  snapshot = await builtinSnapshot();
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the page about providers', () => {
  it.each(Object.keys(credentials))('has a row for %s: its variables, its regions, its law', (id) => {
    const row = new RegExp(`^\\| \`${id}\` \\|(.*)\\|(.*)\\|(.*)\\|$`, 'm').exec(page);
    const [, variables = '', regions = '', law = ''] = row ?? [];
    for (const name of Object.keys(credentials[id]!).filter((name) => !/RESOURCE_NAME_/.test(name))) {
      expect(variables).toContain(`\`${name}\``);
    }
    const served = new Set(
      realRoutes(snapshot).flatMap(({ provider, locode }) => (provider.id === id ? [locode] : [])),
    );
    expect(new Set([...regions.matchAll(/`(\w+)`/g)].map((match) => match[1]))).toEqual(served);
    const unknown = ['ollama', 'vllm'].includes(id) ? 'yours' : 'not stated';
    expect(law.trim()).toBe(snapshot.providers.get(id)!.headquarters ?? unknown);
  });

  it('is what "npm run docs" writes', () => {
    expect(renderProvidersPage(page, snapshot)).toBe(page);
  });

  it('counts right', () => {
    const routes = realRoutes(snapshot);
    const models = new Set(routes.map(({ model }) => model.canonicalId));
    const counted = `${Object.keys(credentials).length} providers, ${models.size} models and ${routes.length} routes`;
    expect(page).toContain(counted);
    // "lodestone catalogue reload" counts the sandbox too, and says how much of it that is.
    const { sandbox, ...all } = countsOf(snapshot);
    expect(all.providers - sandbox.providers).toBe(Object.keys(credentials).length);
    expect(all.models - sandbox.models).toBe(models.size);
    expect(all.routes - sandbox.routes).toBe(routes.length);
    expect(reloadText({ ...all, sandbox })).toMatch(
      /^Reloaded: \d+ models, \d+ routes, \d+ providers \(the sandbox: \d+ models, \d+ routes, \d+ providers\)\.$/,
    );
    expect(routes.filter(({ price }) => price === null)).toHaveLength(14);
    expect(page).toContain('fourteen routes have none');
  });

  it('shows a catalogue that has no fault', async () => {
    const [, example] = /```yaml\n# my-catalogue([\s\S]*?)```/.exec(page)!;
    writeFileSync(join(folder, 'mine.yaml'), `#${example}`);
    const lines: string[] = [];
    const put = (line: string) => void lines.push(line);
    const io = { out: put, err: put, env: { HOUSE_NAME: 'ours', HOUSE_API_KEY: 'k' }, cwd: folder };
    expect(await main(['catalogue', 'check', 'mine.yaml'], io), lines.join('\n')).toBe(0);
    // The example adds one provider.
    expect(lines.join('\n')).toContain(`${snapshot.providers.size + 1} providers, 4 of them configured here`);
  });
});

describe('the page about data policies', () => {
  const policies = readFileSync(dataPoliciesPage, 'utf8');

  it('is what "npm run docs" writes', () => {
    expect(renderDataPoliciesPage(policies, snapshot)).toBe(policies);
  });

  it.each(Object.keys(credentials))(
    'states the facts of %s with source and date, or that they are not published',
    (id) => {
      const section = policies.slice(policies.indexOf(`(\`${id}\`)`)).split('\n## ')[0]!;
      const { dataPolicy } = snapshot.providers.get(id)!;
      if (dataPolicy) expect(section).toContain(`| As of | ${dataPolicy.as_of} |`);
      expect(section.match(/^\| .+ \| .+ \|$/gm)).toHaveLength(9);
      if (!dataPolicy) expect(section.match(/not published/g)!.length).toBeGreaterThanOrEqual(6);
      else expect(dataPolicy.source).toBeTruthy();
    },
  );
});
