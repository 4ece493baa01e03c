import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { configurationPage, renderConfigurationPage } from '../../scripts/configuration-page.mjs';
import type { Setting } from '../../src/config/setting.js';
import { sections, topLevel } from '../../src/config/settings.js';

const page = readFileSync(configurationPage, 'utf8');

describe('docs/guide/configuration.md', () => {
  it('is what the settings render to; "npm run docs" writes it', () => {
    expect(page).toBe(renderConfigurationPage({ topLevel, sections }));
  });

  it('shows every default as the file would be written', () => {
    const shown = [...page.matchAll(/^\| `([a-z_.]+)` \| `([^`]+)` \|/gm)].map(([, field, text]) => [field, text]);
    const all: Record<string, Setting> = { ...topLevel };
    for (const [name, rows] of Object.entries(sections)) {
      for (const [key, row] of Object.entries<Setting>(rows)) all[`${name}.${key}`] = row;
    }
    const readBack = shown.filter(
      ([field]) => field !== 'storage.data_dir' && typeof all[field!]?.default !== 'object',
    );
    expect(readBack.length).toBeGreaterThan(15);
    for (const [field, text] of readBack)
      expect(all[field!]!.accepts.parse(text!.replaceAll('"', '')), field).toEqual(all[field!]!.default);
  });
});
