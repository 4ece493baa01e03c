/** Reads a YAML file and reports each fault with its file, line and column. */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
} from 'yaml';
import type { z } from 'zod';

export type FieldPath = readonly PropertyKey[];

const excerptMax = 60;

export class YamlSource {
  /** Each is `file:line:column: field: what was found, what was expected`. */
  readonly faults: string[] = [];
  /** The content as plain values; undefined where the text is not YAML. An empty file is an empty mapping. */
  readonly value: unknown;
  private parsed: Document.Parsed | undefined;
  private readonly lines = new LineCounter();

  constructor(
    readonly file: string,
    private readonly text: string,
    /** Applied to each fault before it is stored, where the text was altered before parsing. */
    private readonly show: (message: string) => string = (message) => message,
    /** The text's value where it is known: the text is then parsed only to locate a fault. */
    private readonly known?: { readonly value: unknown },
  ) {
    if (known) {
      this.value = known.value;
      return;
    }
    for (const { pos, message } of [...this.document.errors, ...this.document.warnings]) {
      this.faultAtOffset(pos[0], 'YAML', firstLineOf(message));
    }
    if (this.faults.length === 0) this.value = this.plainValue();
  }

  /** Checks the value at a path; undefined where it has faults, which are then in `faults`. */
  check<T>(schema: z.ZodType<T>, path: FieldPath = [], value: unknown = this.valueAt(path)): T | undefined {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    for (const issue of result.error.issues) this.faultOf(issue, [...path, ...issue.path]);
    return undefined;
  }

  faultAt(path: FieldPath, message: string): void {
    this.faultAtOffset(this.offsetOf(path), fieldText(path), message);
  }

  /** The line of the value at a path, counted from 1. */
  lineOf(path: FieldPath): number {
    return this.lines.linePos(this.offsetOf(path)).line;
  }

  valueAt(path: FieldPath): unknown {
    let value = this.value;
    for (const step of path) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
      value = (value as Record<PropertyKey, unknown>)[step];
    }
    return value;
  }

  /** The characters of a scalar as they are in the file, so that a decimal never becomes a float. */
  textAt(path: FieldPath): string | undefined {
    if (this.known && !this.parsed) return scalarText(this.valueAt(path));
    const { node, missing } = this.walk(path);
    return !missing && isScalar(node) ? node.source : undefined;
  }

  private get document(): Document.Parsed {
    this.parsed ??= parseDocument(this.text, { lineCounter: this.lines, prettyErrors: false });
    return this.parsed;
  }

  private plainValue(): unknown {
    try {
      return this.document.toJS() ?? {};
    } catch (error) {
      this.faultAtOffset(0, 'YAML', (error as Error).message);
      return undefined;
    }
  }

  private faultOf(issue: z.core.$ZodIssue, path: FieldPath): void {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) this.unknownField([...path, key], issue.message);
      return;
    }
    const found = this.valueAt(path);
    const secret = issue.code === 'custom' && issue.params?.secret === true;
    this.faultAt(path, `found ${secret ? kindOf(found) : describeValue(found)}, expected ${issue.message}`);
  }

  private unknownField(path: FieldPath, allowed: string): void {
    const offset = this.walk(path).key?.range?.[0] ?? this.offsetOf(path);
    this.faultAtOffset(offset, fieldText(path), `unknown field, expected one of: ${allowed}`);
  }

  private faultAtOffset(offset: number, field: string, message: string): void {
    const { line, col } = this.lines.linePos(offset);
    this.faults.push(this.show(`${this.file}:${line || 1}:${col || 1}: ${field}: ${message}`));
  }

  /** A scalar's own position; the key's position for a collection; the nearest position above for what is missing. */
  private offsetOf(path: FieldPath): number {
    const { node, key } = this.walk(path);
    const at = key && (isCollection(node) || !node?.range) ? key : node;
    return at?.range?.[0] ?? 0;
  }

  private walk(path: FieldPath): { node: Node | null; key: Node | null; missing: boolean } {
    let node: Node | null = this.document.contents;
    let key: Node | null = null;
    for (const step of path) {
      const inside: Node | null | undefined = isAlias(node) ? node.resolve(this.document) : node;
      if (isMap(inside)) {
        const pair = inside.items.find(({ key }) => isScalar(key) && String(key.value) === step);
        if (!pair) return { node: inside, key, missing: true };
        key = pair.key as Node;
        node = pair.value as Node | null;
      } else if (isSeq(inside) && typeof step === 'number' && step in inside.items) {
        key = null;
        node = inside.items[step] as Node;
      } else {
        return { node: inside ?? null, key, missing: true };
      }
    }
    return { node: isAlias(node) ? (node.resolve(this.document) ?? null) : node, key, missing: false };
  }
}

/** A value for a fault's message, cut to a readable length. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') {
    return value.length > excerptMax ? `${JSON.stringify(value.slice(0, excerptMax))}…` : JSON.stringify(value);
  }
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kindOf(value);
}

/** A decimal is shown with the digits that it was written with, except for trailing zeros. */
function scalarText(value: unknown): string | undefined {
  return typeof value === 'number' || typeof value === 'string' ? String(value) : undefined;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}

function fieldText(path: FieldPath): string {
  let text = '';
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : `${text && '.'}${String(step)}`;
  return text || 'file';
}

function firstLineOf(message: string): string {
  const end = message.indexOf('\n');
  return end < 0 ? message : message.slice(0, end);
}
