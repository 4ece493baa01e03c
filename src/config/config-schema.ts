/** The schema of the configuration file, made from the rows of the settings. */
import type { z } from 'zod';
import { fields, text } from '../base/yaml-fields.js';
import { providers } from './provider-settings.js';
import type { Settings } from './setting.js';
import { sections, topLevel } from './settings.js';

/** What the file holds after the check: every field is optional, and null stands for the default. */
export type FileValues = Record<string, unknown>;

const shapeOf = (rows: Settings) =>
  Object.fromEntries(
    Object.entries(rows).flatMap(([key, { accepts, isSecret }]): [string, z.ZodType][] => [
      [key, accepts.nullish()],
      ...(isSecret ? [[`${key}_file`, text.nullish()] as [string, z.ZodType]] : []),
    ]),
  );

const { server, storage, ...otherSections } = Object.fromEntries(
  Object.entries(sections).map(([key, rows]) => [key, fields(shapeOf(rows)).nullish()]),
);

/** An unknown field is a fault, which lists the known ones in this order. */
export const configSchema: z.ZodType<FileValues> = fields({
  ...{ server: server!, storage: storage! },
  ...shapeOf(topLevel),
  ...otherSections,
  providers: providers.nullish(),
});

/** What an included file may have. */
export const includedSchema: z.ZodType<FileValues> = fields({ providers: providers.nullish() });
