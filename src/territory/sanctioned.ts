/** Loads the sanctioned territories: the built-in list or the operator's codes. Names always come from the built-in list. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { fields, listOf, territory, text } from '../base/yaml-fields.js';
import { YamlSource } from '../base/yaml-source.js';
import type { Config } from '../config/config.js';
import { ConfigFault } from '../config/config-fault.js';
import { territoryCode } from './territory.js';

/** This file is two levels below the project, compiled or not. */
const builtinFile = fileURLToPath(new URL('../../catalogue/sanctioned.yaml', import.meta.url));
const builtinSchema = fields({
  sanctioned: listOf(fields({ code: territory, name: text }), 'territories with code and name'),
});

export interface Sanctioned {
  readonly codes: ReadonlySet<string>;
  /** The names of subdivisions by code. */
  readonly names: ReadonlyMap<string, string>;
}

export async function loadSanctioned(setting: Config['territories']['sanctioned']): Promise<Sanctioned> {
  const builtin = await readBuiltin();
  const names = new Map(builtin.filter(({ code }) => code.length > 2).map(({ code, name }) => [code, name]));
  const codes = setting === 'builtin' ? builtin.map(({ code }) => code) : checkedCodes(setting);
  return { codes: new Set(codes), names };
}

async function readBuiltin(): Promise<{ code: string; name: string }[]> {
  const source = new YamlSource(builtinFile, await readFile(builtinFile, 'utf8'));
  const checked = source.faults.length === 0 ? source.check(builtinSchema) : undefined;
  if (!checked) throw new ConfigFault(source.faults);
  return checked.sanctioned;
}

/** A code that matches no territory would be a gap in the list, so it stops the start. */
function checkedCodes(setting: readonly string[]): string[] {
  const codes = setting.map((code) => code.toUpperCase());
  const faults = codes
    .filter((code) => !territoryCode.test(code))
    .map((code) => `territories.sanctioned: found ${JSON.stringify(code)}, expected an ISO 3166-1 or 3166-2 code`);
  if (faults.length > 0) throw new ConfigFault(faults);
  return codes;
}
