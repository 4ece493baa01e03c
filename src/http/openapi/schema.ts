/** Builders for the JSON Schemas of the document. Every property of an `object` is required unless it is `optional`. */

import { instantPattern } from '../../base/time.js';
import type { NumberParameter } from '../query.js';
import type { Parameter, Ref, Schema } from './types.js';

export function ref(name: string): Ref & Schema {
  return { $ref: `#/components/schemas/${name}` };
}

export function orNull(schema: Schema): Schema {
  return { ...schema, type: [schema.type, 'null'] };
}

/** Of a schema that is no single type. */
export function anyOrNull(description: string, ...schemas: readonly Schema[]): Schema {
  return { anyOf: [...schemas, { type: 'null' }], description };
}

/** Fields that are not listed are there too. */
export const open = { additionalProperties: true };

/** A property that may be absent. */
class Optional {
  [keyword: string]: unknown;

  constructor(readonly schema: Schema) {}
}

export function optional(schema: Schema): Schema {
  return new Optional(schema);
}

export type Properties = Readonly<Record<string, Schema>>;

export function optionals(properties: Properties): Properties {
  return mapped(properties, optional);
}

function mapped(properties: Properties, change: (schema: Schema) => Schema): Properties {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, change(schema)]));
}

export function object(properties: Properties, more: Schema = {}): Schema {
  const required = Object.keys(properties).filter((name) => !(properties[name] instanceof Optional));
  const schemas = mapped(properties, (schema) => (schema instanceof Optional ? (schema.schema as Schema) : schema));
  return { type: 'object', ...(required.length > 0 && { required }), properties: schemas, ...more };
}

export function openObject(properties: Properties): Schema {
  return object(properties, open);
}

/** An object with a description. */
export function objectOf(description: string, properties: Properties): Schema {
  return object(properties, { description });
}

export function objectOrNull(description: string, properties: Properties): Schema {
  return orNull(objectOf(description, properties));
}

/** A list of objects. */
export function objectsOf(description: string, properties: Properties): Schema {
  return array(object(properties), description);
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

export function texts(description: string): Schema {
  return array({ type: 'string' }, description);
}

export function textsOrNull(description: string): Schema {
  return orNull(texts(description));
}

export function number(description: string, more: Schema = {}): Schema {
  return { type: 'number', description, ...more };
}

export function integerOrNull(description: string): Schema {
  return orNull(integer(description));
}

export function numberOrNull(description: string): Schema {
  return orNull(number(description));
}

export function boolean(description: string): Schema {
  return { type: 'boolean', description };
}

export function booleanOrNull(description: string): Schema {
  return orNull(boolean(description));
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

export function timeOrNull(description: string): Schema {
  return orNull(time(description));
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
