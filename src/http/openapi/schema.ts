/** Builders for the JSON Schemas of the document. Every property of an `object` is required unless it is listed as optional. */

import { z } from 'zod';
import { instantPattern } from '../../base/time.js';
import type { NumberParameter } from '../query.js';
import type { Parameter, Ref, Schema } from './types.js';

export function ref(name: string): Ref & Schema {
  return { $ref: `#/components/schemas/${name}` };
}

export function orNull(schema: Schema): Schema {
  return { ...schema, type: [schema.type, 'null'] };
}

/** Fields that are not listed are there too. */
export const open = { additionalProperties: true };

export function object(
  properties: Readonly<Record<string, Schema>>,
  { optional = [], ...more }: { optional?: readonly string[] | 'all'; [keyword: string]: unknown } = {},
): Schema {
  const required = optional === 'all' ? [] : Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...more };
}

export function text(description: string, more: Schema = {}): Schema {
  return { type: 'string', description, ...more };
}

export function textOrNull(description: string, more: Schema = {}): Schema {
  return orNull(text(description, more));
}

export function integer(description: string, more: Schema = {}): Schema {
  return { type: 'integer', description, ...more };
}

export function number(description: string, more: Schema = {}): Schema {
  return { type: 'number', description, ...more };
}

export function numberOrNull(description: string): Schema {
  return orNull(number(description));
}

export function boolean(description: string): Schema {
  return { type: 'boolean', description };
}

export function array(items: Schema, description: string, more: Schema = {}): Schema {
  return { type: 'array', items, description, ...more };
}

export function oneOfValues(values: readonly (string | null)[], description: string): Schema {
  const type = values.includes(null) ? ['string', 'null'] : 'string';
  return { type, enum: [...values], description };
}

/** A NUL is refused: PostgreSQL has no text with one. */
export const plainText: Schema = { type: 'string', pattern: '^[^\\x00]*$' };

export function query(
  name: string,
  description: string,
  schema: Schema = plainText,
  more?: Partial<Parameter>,
): Parameter {
  return { name, in: 'query', description, schema, ...more };
}

/** The query parameter that `queryNumber` reads with the same rule. */
export function numberParameter({ name, description, min, max, default: value }: NumberParameter): Parameter {
  return {
    name,
    in: 'query',
    description,
    schema: { type: 'integer', minimum: min, maximum: max, default: value },
  };
}

export function time(description: string): Schema {
  return text(description, { format: 'date-time' });
}

/** The query parameter that `queryInstant` reads: an empty one is as none. */
export const instant: Schema = { type: 'string', pattern: `^$|${instantPattern}` };

/** Exact: up to twelve decimals, no exponent. */
export function usd(description: string): Schema {
  return text(`${description} In US dollars, an exact decimal.`, { pattern: '^-?\\d+(\\.\\d{1,12})?$' });
}

/** `{"object": "list", "data": […]}`, the form of every list. */
export function listOf(schema: Schema, more: Readonly<Record<string, Schema>> = {}): Schema {
  return object({ object: { const: 'list' }, data: { type: 'array', items: schema }, ...more });
}

/** `gen-` or `req-` and 26 characters. */
export function idPattern(prefix: string): Schema {
  return { pattern: `^${prefix}-[0-9a-hjkmnp-tv-z]{26}$` };
}

/** The zod schema of a handler as JSON Schema, so that document and check cannot differ. */
export function bodySchema(checked: z.ZodType): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(checked, { io: 'input' });
  return schema;
}
