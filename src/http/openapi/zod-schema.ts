/** The schema that a handler checks its body with, as JSON Schema: what it declares is what it does. */
import { z } from 'zod';
import type { Schema } from './types.js';

export function bodySchema(checked: z.ZodType): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(checked, { io: 'input' });
  return schema;
}
