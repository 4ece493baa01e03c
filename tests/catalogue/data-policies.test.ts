/** The page about data policies has a section for every built-in provider, with what its catalogue file says and nothing else. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/guide/data-policies.md'), 'utf8');

interface ProviderEntry {
  id: string;
  headquarters?: string | null;
  data_policy?: Record<string, unknown> & { source?: string; as_of?: string };
}

const folder = join(root, 'catalogue/providers');
const providers = readdirSync(folder).flatMap(
  (file) => (parse(readFileSync(join(folder, file), 'utf8')) as { providers: ProviderEntry[] }).providers,
);

/** The rows of a provider's section, by title. */
function rowsOf(id: string): Map<string, string> {
  const section = page.split(/^## /m).find((text) => text.split('\n', 1)[0]!.endsWith(`(\`${id}\`)`));
  return new Map([...(section ?? '').matchAll(/^\| (.+?) \| (.+) \|$/gm)].map((match) => [match[1]!, match[2]!]));
}

const titles: Readonly<Record<string, string>> = {
  trains: 'Trains on paid requests',
  retention_days: 'Keeps prompts or answers',
  zdr: 'Zero retention',
  in_region: 'Stays in the region of the route',
  eu_owned: 'Owned in the EU',
  certifications: 'Certifications',
};

/** How a fact must read, as far as it is a figure or a name. */
function textOf(value: unknown): RegExp {
  if (typeof value === 'boolean') return value ? /^yes$/ : /^no$/;
  if (typeof value === 'number') return value === 0 ? /^nothing is kept$/ : new RegExp(`^${value} days?$`);
  if (Array.isArray(value)) return new RegExp(`^${value.map((name) => `\`${name}\``).join(', ')}$`);
  return /\w/;
}

describe('the data policy of a built-in provider', () => {
  it('is on the page for all of them', () => {
    expect(providers.length).toBeGreaterThanOrEqual(42);
    const sections = [...page.matchAll(/^## .*\(`(.+)`\)$/gm)].map((match) => match[1]!);
    expect(sections.sort()).toEqual(providers.map(({ id }) => id).sort());
  });

  it.each(providers.map((provider) => [provider.id, provider] as const))(
    '%s: each fact, or not published',
    (id, entry) => {
      const rows = rowsOf(id);
      const { data_policy: facts = {} } = entry;
      for (const [field, title] of Object.entries(titles)) {
        const shown = rows.get(title);
        if (facts[field] === undefined) expect([title, shown]).toEqual([title, 'not published']);
        else {
          expect([title, shown]).not.toEqual([title, 'not published']);
          expect(shown, title).toMatch(textOf(facts[field]));
        }
      }
      if (entry.data_policy) {
        expect(rows.get('As of')).toBe(facts.as_of);
        expect(facts.as_of).toMatch(/^\d{4}-\d{2}-\d{2}$/);
        for (const source of facts.source!.split('; ')) expect(rows.get('Source')).toContain(source);
      } else {
        expect(rows.get('As of')).toBe('not published');
        expect(rows.get('Source')).toBe(['ollama', 'vllm'].includes(entry.id) ? 'you operate it' : 'not published');
      }
    },
  );
});
