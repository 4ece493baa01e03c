/** What a handler says about its operations in the API's description. `document.ts` makes the document of it in the build. */
import type { z } from 'zod';
import * as s from './schema.js';
import type { Parameter, Schema } from './types.js';

/** One subject of the API: a tag and its operations. */
export interface Resource {
  readonly tag: { readonly name: string; readonly description: string };
  /** Of operations that name none. What is under `/admin/v1` takes the admin token. */
  readonly access: Access;
  readonly operations: Operations;
}

/** Who may call it. */
export type Access = 'key' | 'management' | 'admin' | 'open' | 'probe' | 'metrics';

/** By method and path: `GET /v1/keys`. */
export type Operations = Readonly<Record<string, Described>>;

/** What an operation has beside its id and its summary. */
interface Details {
  /** The successful ones. */
  answers: Answer | readonly Answer[];
  access?: Access;
  description?: string;
  /** Beside those of the path, which `path-parameters.ts` describes. */
  parameters?: readonly Parameter[];
  body?: Body;
  /** The schema of errors, where the API has its own form of them. */
  errors?: Schema;
}

export interface Described extends Details {
  id: string;
  summary: string;
}

export interface Body {
  schema: Schema | z.ZodType;
  examples: Examples;
  description?: string;
  /** JSON unless it has another type. */
  type?: string;
}

/** The summary and the value of each. */
export type Examples = Readonly<Record<string, readonly [summary: string, value: unknown]>>;

export interface Answer {
  /** 200 where it is left out. */
  status?: number;
  description: string;
  /** Absent: no body. */
  content?: Readonly<Record<string, { schema: Schema; examples?: Examples }>>;
  /** In addition to those of every answer. */
  headers?: readonly string[];
}

export function resource(name: string, description: string, access: Access, operations: Operations): Resource {
  return { tag: { name, description }, access, operations };
}

export function operation(id: string, summary: string, details: Details): Described {
  return { id, summary, ...details };
}

export function body(schema: Body['schema'], examples: Examples, more: Pick<Body, 'description' | 'type'> = {}): Body {
  return { schema, examples, ...more };
}

/** A schema with a name: the document has it once, and refers to it. */
export class Component {
  readonly [keyword: string]: unknown;

  constructor(
    readonly name: string,
    readonly schema: Body['schema'],
  ) {}
}

export function component(name: string, schema: Body['schema']): Component {
  return new Component(name, schema);
}

/** An object of the API. */
export function record(name: string, properties: s.Properties): Component {
  return component(name, s.object(properties));
}

/** An answer of one JSON value. */
export function json(description: string, schema: Schema, headers: readonly string[] = []): Answer {
  return { description, content: { 'application/json': { schema } }, headers };
}

/** `more` are members of the list beside its entries. */
export function list(schema: Schema, description = 'The list.', more: Readonly<Record<string, Schema>> = {}): Answer {
  return json(description, s.listOf(schema, more));
}

export function created(answer: Answer): Answer {
  return { ...answer, status: 201 };
}

/** An answer that is text of another type than JSON. */
export function textAnswer(description: string, type: string, pattern: string): Answer {
  return { description, content: { [type]: { schema: { type: 'string', pattern } } } };
}

export const noContent: Answer = { status: 204, description: 'Done; there is no body.' };
