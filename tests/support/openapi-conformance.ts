/** Holds answers against an OpenAPI document: status, headers and body must be declared, and nothing may come that is not. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenApiDocument, Operation } from '../../src/http/openapi/types.js';
import type { Reply } from './client.js';

const root = 'lodestone';
/** Of every answer, and no part of the API's description: security, CORS and plain HTTP. */
const commonHeaders = /^(x-content-type-options|x-frame-options|x-accel-buffering)$/;
const describedHeaders = /^(x-|retry-after$|allow$|etag$)/;

interface Faults {
  faults: string[];
}

export class Conformance {
  /** Hundreds of schemas are each used a few times, so that they are compiled as quickly as can be: each once, and not optimised. */
  private readonly ajv = new Ajv2020({
    ...{ strict: false, allErrors: true, validateSchema: false, inlineRefs: false },
    code: { optimize: false },
  });
  /** By the pointer to their schemas. Ajv writes and compiles code for each, which takes longer than most requests. */
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor(private readonly document: OpenApiDocument) {
    addFormats.default(this.ajv);
    this.ajv.addSchema({ ...(closed(document) as object), $id: root });
  }

  /** What an answer to `method path` has that the document does not say, or lacks that it says. */
  faultsOf(method: string, path: string, operation: Operation, reply: Reply): string[] {
    const status = String(reply.status);
    const own = status in operation.responses ? status : 'default';
    const shared = (operation.responses[own] as { $ref?: string } | undefined)?.$ref;
    const pointer = shared ?? `#/paths/${escaped(path)}/${method}/responses/${own}`;
    const response = this.at(pointer) as { headers?: object; content?: object };
    return [
      ...this.headerFaults(`${pointer}/headers`, Object.keys(response.headers ?? {}), reply),
      ...this.bodyFaults(`${pointer}/content`, Object.keys(response.content ?? {}), reply),
    ];
  }

  schemaFaults(name: string, value: unknown): string[] {
    return this.validated(`#/components/schemas/${name}`, value).faults;
  }

  private headerFaults(pointer: string, declared: readonly string[], { headers }: Reply): string[] {
    const undeclared = Object.keys(headers)
      .filter((name) => describedHeaders.test(name) && !commonHeaders.test(name) && !declared.includes(name))
      .map((name) => `the header ${name} is not declared`);
    const wrong = declared.flatMap((name) => {
      const header = this.document.components.headers[name]!;
      const value = headers[name];
      if (value === undefined) return header.required ? [`the header ${name} is missing`] : [];
      return this.validated(`#/components/headers/${escaped(name)}/schema`, value).faults.map(
        (fault) => `the header ${name} of ${pointer} is ${value}: ${fault}`,
      );
    });
    return [...undeclared, ...wrong];
  }

  private bodyFaults(pointer: string, declared: readonly string[], { headers, text, json }: Reply): string[] {
    if (declared.length === 0) return text === '' ? [] : [`a body where none is declared: ${text.slice(0, 200)}`];
    const type = String(headers['content-type'] ?? '').split(';')[0]!;
    if (!declared.includes(type)) return [`${type} is not declared at ${pointer}`];
    const value = type === 'application/json' ? json : text;
    return this.validated(`${pointer}/${escaped(type)}/schema`, value).faults.map(
      (fault) => `${fault} in ${text.slice(0, 600)}`,
    );
  }

  private validated(pointer: string, value: unknown): Faults {
    const validate =
      this.compiled.get(pointer) ?? (this.ajv.compile({ $ref: `${root}${pointer}` }) as ValidateFunction);
    this.compiled.set(pointer, validate);
    if (validate(value)) return { faults: [] };
    return { faults: (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || 'it'} ${message}`) };
  }

  private at(pointer: string): unknown {
    return pointer
      .slice(2)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], this.document);
  }
}

function escaped(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Objects that list their properties have no others, unless they say so: what is not described may not be sent. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]));
  const isObject = [copy.type].flat().includes('object') && typeof copy.properties === 'object';
  return isObject && !('additionalProperties' in copy) ? { ...copy, additionalProperties: false } : copy;
}
