/** The bodies that set something, with one place for a large value: those of the API's description, and those of the dashboard's own API. */

import { doors } from '../../../src/doors/registry.js';
import { openApiDocument } from '../../../src/http/openapi/document.js';
import type { Place } from './request-fields.js';

type Schema = Readonly<Record<string, unknown>>;
type Members = Readonly<Record<string, Schema>>;

/** Places inside of `provider`, which is the same in every API. */
export const chatProviderPlaces: Readonly<Record<string, string>> = Object.fromEntries(
  placesIn({ provider: membersOf(openApiDocument.components.schemas.ChatRequest!).provider! }).filter(([field]) =>
    field.startsWith('provider.'),
  ),
);

/** Their fields by path, below `/dashboard/api/`. */
const dashboardBodies: Readonly<Record<string, readonly string[]>> = {
  'sign-up': ['email', 'password', 'name'],
  'sign-in': ['email', 'password', 'code'],
  claim: ['token'],
  'forgot-password': ['email'],
  'reset-password': ['token', 'password'],
  'change-password': ['current_password', 'new_password'],
  operator: ['admin_token'],
  'two-factor': ['password'],
  'two-factor/confirm': ['code'],
  'two-factor/off': ['password', 'code'],
  'policy/preview': ['model', 'policy'],
  'credits/checkout': ['amount_usd', 'attempt'],
};

export function controlPlaces(): Place[] {
  const inference = new Set([...doors.map(({ path }) => path), '/v1/routes/explain']);
  const described = Object.entries(openApiDocument.paths)
    .filter(([path]) => !inference.has(path))
    .flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, { requestBody, security }]) =>
        requestBody?.content['application/json']
          ? describedPlaces(requestBody.content['application/json']).map(([field, template]): Place => {
              const caller = 'adminToken' in (security[0] ?? {}) ? 'admin' : 'management';
              return { method: method.toUpperCase(), path, caller, model: '', field, template };
            })
          : [],
      ),
    );
  const ownPlaces = Object.entries(dashboardBodies).flatMap(([path, fields]) =>
    [...fields, 'unknown'].map((field): Place => {
      const others = fields
        .filter((name) => name !== field)
        .map((name) => `"${name}":"a@example.test"`.replace('@', '\\u0040'));
      const template = `{${[...others, `"${field}":@`].join(',')}}`;
      return { method: 'POST', path: `/dashboard/api/${path}`, caller: 'browser', model: '', field, template };
    }),
  );
  return [...described, ...ownPlaces];
}

/** Each beside the other members that the body must have, as its first example writes them. */
function describedPlaces({ schema, examples = {} }: { schema: Schema; examples?: object }): [string, string][] {
  const [example] = Object.values(examples) as { value?: Record<string, unknown> }[];
  const required = requiredOf(schema);
  return [...placesIn(membersOf(schema)), ['unknown', '"unknown":@']].map(([field, text]) => {
    const kept = Object.entries(example?.value ?? {})
      .filter(([name]) => required.includes(name) && name !== field!.split(/[.[]/)[0])
      .map(([name, value]) => `"${name}":${JSON.stringify(value).replaceAll('@', '\\u0040')}`);
    return [field!, `{${[...kept, text!].join(',')}}`];
  });
}

/** Each member, its entries, and what is inside of it. */
function placesIn(members: Members): [string, string][] {
  return Object.entries(members).flatMap(([name, schema]) => {
    const inside = membersOf(schema);
    const entries = itemsOf(schema);
    return [
      [name, `"${name}":@`],
      ...(entries ? [[`${name}[]`, `"${name}":[@]`]] : []),
      ...Object.keys(entries ? membersOf(entries) : {}).map((each) => [
        `${name}[].${each}`,
        `"${name}":[{"${each}":@}]`,
      ]),
      ...placesIn(inside).map(([field, text]) => [`${name}.${field}`, `"${name}":{${text}}`]),
      ...(Object.keys(inside).length > 0 ? [[`${name}.unknown`, `"${name}":{"unknown":@}`]] : []),
    ] as [string, string][];
  });
}

function membersOf(schema: Schema): Members {
  const { properties = {} } = resolved(schema) as { properties?: Members };
  return Object.assign({}, properties, ...alternativesOf(schema).map(membersOf));
}

function requiredOf(schema: Schema): string[] {
  const { required = [] } = resolved(schema) as { required?: string[] };
  return [...required, ...alternativesOf(schema).flatMap(requiredOf)];
}

function itemsOf(schema: Schema): Schema | undefined {
  return (resolved(schema).items ?? alternativesOf(schema).map(itemsOf).find(Boolean)) as Schema | undefined;
}

function alternativesOf(schema: Schema): readonly Schema[] {
  const { anyOf = [], oneOf = [], allOf = [] } = resolved(schema) as Record<string, readonly Schema[]>;
  return [...anyOf, ...oneOf, ...allOf];
}

function resolved(schema: Schema): Schema {
  const { $ref } = schema;
  return typeof $ref === 'string' ? openApiDocument.components.schemas[$ref.split('/').at(-1)!]! : schema;
}
