/** The same request as curl, Python and TypeScript, ready to paste. */
import { chatDoor } from './doors/chat.js';
import type { Fields, PlaygroundDoor } from './doors/door.js';

interface Target {
  baseUrl: string;
  /** Without a token the code reads it from the environment. */
  token?: string;
}

export interface SnippetRequest extends Target {
  model: string;
  message: string;
  system?: string;
  stream: boolean;
  temperature?: number;
  maxTokens?: number;
}

export interface Snippet {
  language: 'curl' | 'Python' | 'TypeScript';
  code: string;
}

/** Any request of any client API, in every language. */
export function snippetsOf(door: PlaygroundDoor, body: Fields, target: Target): Snippet[] {
  return [
    { language: 'curl', code: curlOf(door, body, target) },
    { language: 'Python', code: pythonOf(door, body, target) },
    { language: 'TypeScript', code: typescriptOf(door, body, target) },
  ];
}

/** A chat request with one message. */
export const curl = (request: SnippetRequest) => curlOf(chatDoor, chatBody(request), request);
export const python = (request: SnippetRequest) => pythonOf(chatDoor, chatBody(request), request);
export const typescript = (request: SnippetRequest) => typescriptOf(chatDoor, chatBody(request), request);

function chatBody({ model, message, system = '', stream, temperature, maxTokens }: SnippetRequest): Fields {
  return chatDoor.body({
    ...{ model, system, stream, tools: [], provider: {}, documents: [] },
    turns: [{ id: 0, role: 'user', content: message }],
    parameters: { ...(temperature !== undefined && { temperature }), ...(maxTokens !== undefined && { maxTokens }) },
  });
}

function curlOf(door: PlaygroundDoor, body: Fields, { baseUrl, token }: Target): string {
  const json = jsonText(body).replaceAll("'", "'\\''");
  return [
    `curl ${body.stream ? '-N ' : ''}${baseUrl}${door.path} \\`,
    ...door.headers(token ?? '$LODESTONE_KEY').map((header) => `  -H "${header}" \\`),
    '  -H "Content-Type: application/json" \\',
    `  -d '${json}'`,
  ].join('\n');
}

function pythonOf({ python: client }: PlaygroundDoor, body: Fields, { baseUrl, token }: Target): string {
  const { stream, provider, ...rest } = body;
  // The client libraries take fields that are not of their API under another name.
  const own = client.call.startsWith('client.') ? { extra_body: { provider } } : { provider };
  const fields = { ...rest, ...(provider !== undefined && own), ...(stream === true && { stream }) };
  return [
    ...client.setUp(baseUrl, token === undefined ? 'os.environ["LODESTONE_KEY"]' : quoted(token)),
    '',
    `answer = ${client.call}(`,
    ...Object.entries(fields).map(([name, value]) => `    ${name}=${layOut(value, pythonStyle, 4)},`),
    ')',
    ...client.print(stream === true),
  ].join('\n');
}

function typescriptOf({ typescript: client }: PlaygroundDoor, body: Fields, { baseUrl, token }: Target): string {
  const { provider, ...fields } = body;
  const literal = jsonText(fields).replace(/^(\s*)"(\w+)":/gm, '$1$2:');
  // The types of the libraries do not know the field; as an object of any shape it may be added.
  const own = `,\n  ...({ provider: ${oneLine(provider, jsonStyle)} } as object),\n}`;
  return [
    ...client.setUp(baseUrl, token === undefined ? 'process.env.LODESTONE_KEY' : quoted(token)),
    '',
    `const answer = await ${client.call}(${provider === undefined ? literal : literal.replace(/\n}$/, () => own)});`,
    ...client.print(body.stream === true),
  ].join('\n');
}

interface Style {
  words: Record<string, string>;
  /** Inside of braces on one line. */
  space: string;
  step: number;
  /** After the last entry. */
  comma: string;
}

const jsonStyle: Style = { words: {}, space: ' ', step: 2, comma: '' };
const pythonStyle: Style = { words: { true: 'True', false: 'False', null: 'None' }, space: '', step: 4, comma: ',' };
const lineMax = 90;

/** One field on each line. */
const jsonText = (body: Fields) => layOut(body, jsonStyle, 0, true);

/** Short values on one line; longer ones, and lists of objects, with one entry on each line. */
function layOut(value: unknown, style: Style, indent: number, isOpen = false): string {
  const one = oneLine(value, style);
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return one;
  if (!isOpen && one.length + indent <= lineMax && !isListOfObjects(value)) return one;
  const inner = indent + style.step;
  const entries = Array.isArray(value)
    ? value.map((item) => layOut(item, style, inner))
    : Object.entries(value).map(([name, item]) => `${quoted(name)}: ${layOut(item, style, inner)}`);
  const lines = entries.map((entry) => ' '.repeat(inner) + entry).join(',\n');
  const [left, right] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${left}\n${lines}${style.comma}\n${' '.repeat(indent)}${right}`;
}

const isListOfObjects = (value: object) => Array.isArray(value) && value.some((item) => typeof item === 'object');

function oneLine(value: unknown, style: Style): string {
  if (Array.isArray(value)) return `[${value.map((item) => oneLine(item, style)).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, item]) => `${quoted(name)}: ${oneLine(item, style)}`);
    return members.length === 0 ? '{}' : `{${style.space}${members.join(', ')}${style.space}}`;
  }
  const text = JSON.stringify(value) ?? 'null';
  return style.words[text] ?? text;
}

/** A JSON string is a string of Python and TypeScript too. */
const quoted = (text: string) => JSON.stringify(text);
