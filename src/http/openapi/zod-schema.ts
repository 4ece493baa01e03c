/** The schema that a handler checks its body with, as JSON Schema: what it declares is what it does. */
import { z } from 'zod';
import type { Schema } from './types.js';

export function bodySchema(checked: z.ZodType, descriptions: Readonly<Record<string, string>> = {}): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(checked, { io: 'input' });
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => [
    name,
    { ...(property as Schema), ...(name in descriptions && { description: descriptions[name] }) },
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}
