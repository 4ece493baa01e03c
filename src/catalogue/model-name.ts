/** Names that an operator gives to models: what a definition holds, and which texts can be names. */
import { z } from 'zod';
import { fields } from '../base/yaml-fields.js';

/** Where something was before it was brought here. */
interface ImportedFrom {
  readonly system: string;
  readonly id: string;
}

/** A name as requests use it. Replaced and never changed. */
export interface ModelName {
  readonly name: string;
  /** A pin or an `auto/` id. */
  readonly target: string;
  /** In place of the account's chain; null where the name has none. */
  readonly fallback: readonly string[] | null;
  /** Wishes as in the `provider` object of a request. */
  readonly provider: Readonly<Record<string, unknown>> | null;
  /** Fields of a chat request for what the client leaves out. */
  readonly defaults: Readonly<Record<string, unknown>> | null;
  readonly note: string | null;
  readonly importedFrom: ImportedFrom | null;
}

/** A name of the store, with its times in epoch milliseconds. */
export interface StoredName extends ModelName {
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const namesMax = 10_000;
const fallbackMax = 10;
/** No settings that mean something are nearly as long. */
const objectLengthMax = 16 * 1024;

/** At most one slash, and none behind a word that begins an id, so that no name has the shape of an id. */
export const namePattern = '^(?!auto/|alias/)(?![^/]*/[^/]*/)[!-~]{1,200}$';
const nameForm = new RegExp(namePattern);

export function isModelName(text: string): boolean {
  return nameForm.test(text);
}

export const nameRule =
  '1 to 200 printable ASCII characters without spaces, with at most one "/", that do not begin with auto/ or alias/';

const wishes = (what: string) =>
  z
    .record(z.string(), z.unknown(), what)
    .refine(
      (value) => JSON.stringify(value).length <= objectLengthMax,
      `${what} of at most ${objectLengthMax} characters`,
    );

const shortText = (max: number) =>
  z
    .string(`a text of 1 to ${max} characters`)
    .min(1, `a text of 1 to ${max} characters`)
    .max(max, `a text of 1 to ${max} characters`);

export const importedFrom = fields({ system: shortText(64), id: shortText(256) });

/** The definition of a name in a file and in the admin API. Each message says what is expected. */
export const nameDefinition = fields({
  model: z.string('a pin or an auto/ id').describe('What the name stands for: a pin or an `auto/` id.'),
  fallback: fields({
    models: z
      .array(z.string('a model id'), 'a list of model ids')
      .max(fallbackMax, `at most ${fallbackMax} model ids`)
      .nullish(),
  })
    .nullish()
    .describe('Used where the request carries no `fallback`, in place of the account’s chain.'),
  provider: wishes('an object of wishes')
    .nullish()
    .describe('Wishes as in the `provider` object of a request, which can narrow them further.'),
  defaults: wishes('an object of fields of a chat request')
    .nullish()
    .describe('Fields of a chat request for what the client leaves out.'),
  note: z.string('a text').max(1000, 'a text of at most 1000 characters').nullish(),
  imported_from: importedFrom.nullish().describe('Where the name was before.'),
});
export type NameDefinition = z.infer<typeof nameDefinition>;

export function modelNameOf(name: string, definition: NameDefinition): ModelName {
  const { model: target, fallback, provider, defaults, note = null, imported_from = null } = definition;
  return {
    ...{ name, target, fallback: fallback?.models ?? null, note, importedFrom: imported_from },
    provider: filledOrNull(provider),
    defaults: filledOrNull(defaults),
  };
}

/** A field that is null says nothing. */
function filledOrNull(object: Readonly<Record<string, unknown>> | null | undefined) {
  const filled = Object.entries(object ?? {}).filter(([, value]) => value !== null);
  return filled.length === 0 ? null : Object.fromEntries(filled);
}

/** The definition as files and the API write it. */
export function definitionOf({ target, fallback, provider, defaults, note, importedFrom }: ModelName): NameDefinition {
  return {
    model: target,
    fallback: fallback && { models: [...fallback] },
    ...{ provider, defaults, note, imported_from: importedFrom },
  };
}
