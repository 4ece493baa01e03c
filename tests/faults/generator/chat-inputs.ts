/** Chat requests, well framed, that are wrong in one or in several ways, in the body or before it. */
import type { SeededRandom } from '../../support/seeded-random.js';
import { chatFaults, type FieldFault } from './chat-faults.js';
import { bodyThatIsNoObject, hostileText, prototypeNames } from './hostile-values.js';
import {
  bearer,
  bytesOf,
  canaryOf,
  chatPath,
  type Expected,
  type Generator,
  type Headers,
  type Input,
  jsonType,
  oneOf,
  served,
  type Target,
} from './input.js';

const explainPath = '/v1/routes/explain';

export const chatInput: Generator = (random, target, number) => {
  const path = random.chance(0.2) ? explainPath : chatPath;
  return oneOf(random, [
    [6, () => wrongFields(random, target, path, number)],
    [2, () => wrongBody(random, target, path, number)],
    [1, () => wrongType(random, target, path, number)],
    [1, () => wrongKey(random, path, number)],
  ])();
};

export function validBody(number: number): string {
  return JSON.stringify({ model: served, messages: [{ role: 'user', content: canaryOf(number) }] });
}

function wrongFields(random: SeededRandom, target: Target, path: string, number: number): Input {
  const faults = new Map<string, FieldFault>();
  for (let left = 1 + (random.chance(0.3) ? random.below(3) : 0); left > 0; left--) {
    const fault = oneOf(random, chatFaults)(random);
    faults.set(fault.field, fault);
  }
  const body = bodyOf(random, [...faults.values()], number);
  const what = [...faults.values()].map(({ field, value }) => `${field}=${value?.slice(0, 60)}`).join(' ');
  const expected = expectedOf([...faults.values()], path);
  return request(random, path, [jsonType, bearer(target.key)], body, expected, what);
}

/** The earliest check answers; of faults that one check finds, any may be named. */
function expectedOf(faults: readonly FieldFault[], path: string): Expected {
  const first = (['field', 'id', 'chain'] as const).find((stage) => faults.some((fault) => fault.stage === stage));
  // The dry run answers what the routing would have answered inside a 200.
  if (first !== 'field' && path === explainPath) return { status: [200] };
  const found = faults.filter(({ stage }) => stage === first).map(({ expected }) => expected);
  return {
    status: found.flatMap(({ status }) => status),
    code: found.flatMap(({ code }) => code ?? []),
    param: found.flatMap(({ param }) => param ?? []),
  };
}

/** The members in any order, with keys given twice (the last is what counts), escapes, blanks and fields of no meaning. */
function bodyOf(random: SeededRandom, faults: readonly FieldFault[], number: number): string {
  const members: [string, string][] = [
    ['model', JSON.stringify(served)],
    ['messages', JSON.stringify([{ role: 'user', content: canaryOf(number) }])],
  ];
  const wrong = faults.filter(({ value }) => value !== undefined).map(({ field, value }) => [field, value!] as const);
  const untouched = members.filter(([name]) => !faults.some(({ field }) => field === name));
  const twice = random.chance(0.2) ? members.filter(([name]) => wrong.some(([field]) => field === name)) : [];
  const all = [...twice, ...shuffled(random, [...untouched, ...wrong, ...noise(random)])];
  const blank = () => (random.chance(0.05) ? random.pick([' ', '\n', '\t\r\n']) : '');
  return `{${all.map(([name, value]) => `${blank()}${keyText(random, name)}${blank()}:${blank()}${value}`).join(',')}${blank()}}`;
}

function noise(random: SeededRandom): (readonly [string, string])[] {
  if (random.chance(0.7)) return [];
  const name = random.chance(0.5) ? random.pick(prototypeNames) : `x-${hostileText(random)}`;
  const value = random.pick(['null', '{"temperature":1,"model":"x"}', '[1,2]', JSON.stringify(hostileText(random))]);
  return [[name, value]];
}

function keyText(random: SeededRandom, name: string): string {
  const text = JSON.stringify(name);
  if (name === '' || random.chance(0.9)) return text;
  return `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${text.slice(JSON.stringify(name[0]).length - 1)}`;
}

function shuffled<T>(random: SeededRandom, items: T[]): T[] {
  for (let at = items.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [items[at], items[other]] = [items[other]!, items[at]!];
  }
  return items;
}

const noParam: Expected = { status: [400], code: ['invalid_request_error'], param: [null] };

function wrongBody(random: SeededRandom, target: Target, path: string, number: number): Input {
  const body = bodyThatIsNoObject(random, validBody(number));
  return request(random, path, [jsonType, bearer(target.key)], body, noParam, `body ${body.toString('latin1', 0, 60)}`);
}

function wrongType(random: SeededRandom, target: Target, path: string, number: number): Input {
  const types = ['text/plain', 'application/jsonx', 'json', '*/*', '', 'application/x-www-form-urlencoded', ';', '%00'];
  const type = random.pick(types);
  const headers: Headers = type === '' && random.chance(0.5) ? [] : [['content-type', type]];
  return request(random, path, [...headers, bearer(target.key)], validBody(number), noParam, `content-type ${type}`);
}

const malformed: Expected = { status: [401], code: ['api_key_malformed'] };
const unknown: Expected = { status: [401], code: ['api_key_not_registered'] };

/** Without a good key nothing else of the request is looked at. */
function wrongKey(random: SeededRandom, path: string, number: number): Input {
  const body = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ';
  const [authorization, expected] = random.pick<readonly [string | null, Expected]>([
    [null, { status: [401], code: ['authentication_error'] }],
    ['', malformed],
    [`bearer sk-lr-${body}`, malformed],
    [`Bearer  sk-lr-${body}`, malformed],
    [`Bearer "sk-lr-${body}"`, malformed],
    [`Bearer sk-lr-${body.slice(random.below(42) + 1)}`, malformed],
    [`Bearer sk-lr-${body}${'x'.repeat(1 + random.below(8_000))}`, malformed],
    [`Bearer sk-bf-${body}`, malformed],
    [`Basic ${body}`, malformed],
    [`Bearer sk-lr-${body}, Bearer sk-lr-${body}`, malformed],
    [`Bearer sk-lr-${body}`, unknown],
    [`Bearer sk-lr-${'\xff'.repeat(43)}`, unknown],
    [`Bearer sk-lr-${"'".repeat(43)}`, unknown],
  ]);
  const headers: Headers = authorization === null ? [] : [['authorization', authorization]];
  const wrong = random.chance(0.5) ? validBody(number) : bodyThatIsNoObject(random, validBody(number));
  return request(random, path, [jsonType, ...headers], wrong, expected, `authorization ${authorization?.slice(0, 40)}`);
}

function request(
  random: SeededRandom,
  path: string,
  headers: Headers,
  body: Buffer | string,
  expected: Expected,
  what: string,
): Input {
  const bytes = bytesOf({ method: 'POST', path, headers, body });
  const pieces = random.chance(0.03) ? { pieceBytes: 1 + random.below(300) } : {};
  return { family: 'chat', what: `${path} ${what}`, bytes, ...pieces, kept: true, methods: ['POST'], path, expected };
}
