/** How to break each of the ordered checks on the chat path, alone or with others. */
import type { YamlObject } from '../../support/gateway-files.js';
import { chatCatalogue, model, route } from '../catalogue.js';
import { type Attempt, busyAddress, type Check, chatDoor, check, type DoorShape, nameOf } from './attempt.js';

/** The numbers are those of docs/behaviour/requests.md#order-of-checks. These apply to every kind of id. */
const early: Check[] = [
  check(1, 'sanctioned territory', { country: 'IR' }, 451, 'unavailable_for_legal_reasons'),
  check(2, 'per-IP limit', { address: busyAddress }, 429, 'rate_limit_exceeded'),
  check(3, 'no such path', { path: '/v1/chat/nothing' }, 404, 'not_found'),
  check(3, 'no such method', { method: 'PUT' }, 405, 'method_not_allowed'),
  check(4, 'no key', { withKey: false }, 401, 'authentication_error'),
  check(4, 'disabled key', { disabled: true }, 401, 'api_key_disabled'),
  check(4, 'address of the key', { elsewhere: true }, 403, 'key_scope'),
  check(5, 'billing country', { billedInIran: true }, 451, 'unavailable_for_legal_reasons'),
  check(5, 'suspended', { suspended: true }, 403, 'account_suspended'),
  check(6, 'content-length', { tooLong: true }, 413, 'request_too_large'),
  check(7, 'per-key requests', { overRequests: true }, 429, 'rate_limit_exceeded'),
  check(8, 'no credit', { poor: true }, 402, 'insufficient_credits'),
  check(8, 'budget', { budgeted: true }, 402, 'budget_exceeded'),
  check(8, 'cap of the key', { capped: true }, 402, 'key_limit_exceeded'),
  check(9, 'bad field', { fields: { temperature: 9 } }, 400, 'invalid_request_error'),
];
const middle: Check[] = [
  check(11, 'scope of the key', { outOfScope: true }, 403, 'key_scope'),
  check(11, 'management key', { manages: true }, 403, 'key_scope'),
  check(
    12,
    'fallback chain',
    { fields: { fallback: { models: ['acme/meta/nothing/defra'] } } },
    400,
    'invalid_fallback_model',
  ),
  check(13, 'per-key tokens', { overTokens: true }, 429, 'rate_limit_exceeded'),
  check(14, 'model disabled', { flaws: ['off'] }, 404, 'model_not_found'),
  check(14, 'model unavailable', { flaws: ['soft'] }, 503, 'model_unavailable'),
];
const excluded = check(16, 'provider terms', { country: 'RU' }, 451, 'unavailable_for_legal_reasons');
const held = check(16, 'held balance', { held: true }, 402, 'insufficient_credits');
const last: Check[] = [
  check(17, 'unpriced', { flaws: ['unpriced'] }, 503, 'provider_error'),
  check(17, 'cannot apply', { flaws: ['plain'], fields: { n: 2 } }, 400),
];

export const pinChecks: Check[] = [
  ...early,
  check(11, 'id shape', { model: 'acme' }, 400, 'invalid_request_error'),
  check(11, 'no such alias', { model: 'alias/nothing' }, 404, 'alias_not_found'),
  check(11, 'region not served', { model: 'acme/meta/pin/zzzzz' }, 404, 'not_found'),
  ...middle,
  excluded,
  held,
  check(17, 'not configured', { provider: 'keyless' }, 503, 'provider_not_configured'),
  ...last,
];

export const autoChecks: Check[] = [
  ...early,
  check(11, 'no such model', { model: 'auto/meta/nothing' }, 404, 'not_found'),
  ...middle,
  check(15, 'policy', { gated: true }, 403, 'routing_policy_exhausted'),
  excluded,
  held,
  check(17, 'not configured', { flaws: ['keyless'] }, 503, 'provider_not_configured'),
  ...last,
];

const fieldsOf = ({ spoiled }: Check) => Object.keys(spoiled.fields ?? {});

/**
 * Whether one request can fail both checks. Two model ids, two states of one model and two paths exclude each other. Checks
 * of one number have an order only within number 5, and among the obstacles of a pin.
 */
export function together(first: Check, second: Check): boolean {
  if (first.number === second.number) return first.number === 5 || (first.number === 17 && isPinObstacle(first));
  return !fieldsOf(first).some((field) => fieldsOf(second).includes(field));
}

const isPinObstacle = ({ spoiled }: Check) => spoiled.provider === 'keyless' || spoiled.flaws?.[0] === 'unpriced';

/** The other client APIs, and what the models named `plain` cannot apply of their requests. */
export const otherDoors: readonly (readonly [door: DoorShape, inapplicable: YamlObject | null])[] = [
  [
    { name: 'messages', path: '/v1/messages', creator: 'meta', body: { ...chatDoor.body, max_tokens: 9 } },
    { mcp_servers: [{ type: 'url', url: 'https://example.test', name: 'x' }] },
  ],
  [
    { name: 'responses', path: '/v1/responses', creator: 'meta', body: { input: 'Say hello.' } },
    { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } },
  ],
  [{ name: 'embeddings', path: '/v1/embeddings', creator: 'vectors', body: { input: ['a'] } }, { dimensions: 7 }],
  [{ name: 'rerank', path: '/v1/rerank', creator: 'ranks', body: { query: 'a', documents: ['b', 'c'] } }, null],
];

/** The checks of a request with an `auto/` id at another door. */
export function checksAt(inapplicable: YamlObject | null): Check[] {
  const others = autoChecks.filter(({ name }) => name !== 'cannot apply');
  if (inapplicable === null) return others;
  return [...others, check(17, 'cannot apply', { flaws: ['plain'], fields: inapplicable }, 400)];
}

const flawNames = ['off', 'soft', 'unpriced', 'plain', 'keyless'];
const flawSets = [[], ...flawNames.flatMap((a) => flawNames.map((b) => [a, b]))];
const namesOf = (id: Attempt['id']) => [...new Set(flawSets.map((flaws) => nameOf(id, flaws)))];

/** A model for each two flaws and each kind of id: a pin chooses between acme and keyless, `auto/` has what the name says. */
const modelNames = [...namesOf('pin'), ...namesOf('auto')];

const kinds = [
  { creator: 'meta', kind: 'chat' },
  { creator: 'vectors', kind: 'embedding' },
  { creator: 'ranks', kind: 'rerank' },
];

/** Models that are not available, and their states. */
export const modelStates = kinds.flatMap(({ creator }) =>
  modelNames.flatMap((name) => {
    const state = name.includes('off') ? 'disabled' : name.includes('soft') ? 'soft_disabled' : null;
    return state === null ? [] : [{ id: `${creator}/${name}`, state }];
  }),
);

/** Providers whose terms exclude Russia, and Iran too, so that a sanctioned caller fails both checks. */
export function catalogue(url: string): YamlObject {
  const models = kinds.flatMap((kind) => modelNames.map((name) => modelOf(name, kind)));
  const { providers, ...rest } = chatCatalogue(url, models);
  const excluding = (providers as YamlObject[]).map((provider) => ({
    ...provider,
    excluded_territories: ['RU', 'IR'],
  }));
  return { ...rest, providers: excluding };
}

function modelOf(name: string, { creator, kind }: (typeof kinds)[number]): YamlObject {
  const flawed = (provider: string) =>
    route({
      provider,
      ...(name.includes('unpriced') && { price: undefined }),
      ...(name.includes('plain') && { capabilities: [] }),
    });
  const names = name.startsWith('pin') ? ['acme', 'keyless'] : [name.includes('keyless') ? 'keyless' : 'acme'];
  const made = { ...model(name, names.map(flawed)), creator, kind };
  return kind === 'embedding' ? { ...made, dimensions: 3, fixed_dimensions: true } : made;
}
