/**
 * Renders the Helm chart as far as its templates go: values, `if`, `range`, `include`, `toYaml`, `nindent`, `default`, `sha256sum`. An
 * expression that is none of these is an error, so that the templates stay within what is checked here.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { root, type Yaml } from './shipped-files.js';

const folder = join(root, 'deploy/helm/lodestone');

export interface Release {
  name: string;
  namespace: string;
  /** Merged over the chart's own, level by level. */
  values?: Yaml;
}

type Scope = Readonly<Record<string, unknown>> & { readonly dot: unknown };
type Token = string | { readonly code: string };
type Templates = ReadonlyMap<string, readonly Token[]>;

export const chart: Yaml = parse(readFileSync(join(folder, 'Chart.yaml'), 'utf8'));
export const chartValues: Yaml = parse(readFileSync(join(folder, 'values.yaml'), 'utf8'));

/** The objects of the chart. */
export function renderChart({ name, namespace, values = {} }: Release): Yaml[] {
  const context = {
    Values: merged(chartValues, values),
    Release: { Name: name, Namespace: namespace },
    Chart: { AppVersion: chart.appVersion },
  };
  const files = readdirSync(join(folder, 'templates')).map((file) =>
    readFileSync(join(folder, 'templates', file), 'utf8'),
  );
  const templates: Templates = new Map(files.flatMap(definitionsIn));
  const scope: Scope = { ...context, dot: context };
  return files.flatMap((text) => {
    const rendered = render(tokensOf(text.replace(definition, '')), scope, templates);
    return parseAllDocuments(rendered).flatMap((document) => {
      if (document.errors.length > 0) throw new Error(`${document.errors[0]}\n${rendered}`);
      return document.toJS() ?? [];
    });
  });
}

const definition = /\{\{-? define "([^"]+)" -?\}\}([\s\S]*?)\{\{-? end \}\}/g;

function definitionsIn(text: string): [string, readonly Token[]][] {
  return [...text.matchAll(definition)].map(([, name, body]) => [name!, tokensOf(body!.trim())]);
}

/** A dash inside the braces removes the blanks on its side. */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (const match of text.matchAll(/\{\{(-?)\s*(.*?)\s*(-?)\}\}/g)) {
    const [whole, before, code, after] = match;
    const plain = text.slice(at, match.index);
    tokens.push(before ? plain.trimEnd() : plain, { code: code! });
    at = match.index + whole.length;
    if (after) at += text.slice(at).length - text.slice(at).trimStart().length;
  }
  return [...tokens, text.slice(at)];
}

function render(tokens: readonly Token[], scope: Scope, templates: Templates): string {
  let text = '';
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (typeof token === 'string') {
      text += token;
      continue;
    }
    const [word = '', ...rest] = token.code.split(' ');
    if (word !== 'if' && word !== 'range') {
      text += String(evaluate(token.code, scope, templates) ?? '');
      continue;
    }
    const end = endOf(tokens, at);
    const body = tokens.slice(at + 1, end);
    const value = evaluate(rest.join(' '), scope, templates);
    if (word === 'if' && isTrue(value)) text += render(body, scope, templates);
    if (word === 'range') for (const dot of value as unknown[]) text += render(body, { ...scope, dot }, templates);
    at = end;
  }
  return text;
}

function endOf(tokens: readonly Token[], from: number): number {
  let depth = 0;
  for (let at = from; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (typeof token === 'string') continue;
    if (/^(if|range) /.test(token.code)) depth++;
    if (token.code === 'end' && --depth === 0) return at;
  }
  throw new Error('An `end` is missing.');
}

function evaluate(code: string, scope: Scope, templates: Templates): unknown {
  const [first = '', ...pipes] = code.split(' | ');
  return pipes.reduce((value: unknown, pipe) => piped(value, pipe, scope), firstOf(first, scope, templates));
}

function firstOf(code: string, scope: Scope, templates: Templates): unknown {
  const [word, ...rest] = code.split(' ');
  if (word === 'toYaml') return stringify(lookUp(rest[0]!, scope)).trimEnd();
  if (word === 'include') return render(templates.get(JSON.parse(rest[0]!))!, scope, templates);
  return lookUp(code, scope);
}

function piped(value: unknown, code: string, scope: Scope): unknown {
  const [word, argument = ''] = code.split(' ');
  if (word === 'nindent') return `\n${String(value).replace(/^(?=.)/gm, ' '.repeat(Number(argument)))}`;
  if (word === 'default') return isTrue(value) ? value : lookUp(argument, scope);
  if (word === 'sha256sum') return createHash('sha256').update(String(value)).digest('hex');
  throw new Error(`The check does not know the function ${word}.`);
}

/** A path that leads nowhere is an error: a template must not name a value that the chart does not have. */
function lookUp(path: string, scope: Scope): unknown {
  if (path === '.') return scope.dot;
  if (!/^(\.\w+)+$/.test(path)) throw new Error(`The check does not know the expression ${path}.`);
  return path
    .slice(1)
    .split('.')
    .reduce((value: unknown, step) => {
      if (typeof value !== 'object' || value === null || !(step in value)) throw new Error(`There is no ${path}.`);
      return (value as Record<string, unknown>)[step];
    }, scope);
}

function isTrue(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

function merged(base: Yaml, over: Yaml): Yaml {
  const isMap = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const result: Yaml = { ...base };
  for (const [key, value] of Object.entries(over)) {
    result[key] = isMap(result[key]) && isMap(value) ? merged(result[key], value as Yaml) : value;
  }
  return result;
}
