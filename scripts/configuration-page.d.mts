/** The types of configuration-page.mjs, for the test that compares the page with the settings. */
import type { Settings } from '../src/config/setting.js';

export const configurationPage: string;
export function renderConfigurationPage(parts: {
  topLevel: Settings;
  sections: Readonly<Record<string, Settings>>;
}): string;
