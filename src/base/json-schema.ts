/** JSON Schemas that stand beside a check, so that the API's description matches the check. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The schema for a request, where `null` is the same as leaving a field out, on every level. */
function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, properties, required: _, ...rest } = schema;
  return {
    ...rest,
    ...(type !== undefined && { type: [...new Set([type, 'null'].flat())] }),
    ...(Array.isArray(values) && { enum: [...new Set([...values, null])] }),
    ...(properties !== undefined && { properties: orNullEach(properties as Record<string, JsonSchema>) }),
  };
}

export function orNullEach(properties: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, orNull(property)]));
}
