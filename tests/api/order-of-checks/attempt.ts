/** A request that can be broken in any number of the ordered checks at once, and the account, model and caller it needs for that. */
import type { GatewayClient, TestAccount } from '../../support/client.js';
import type { YamlObject } from '../../support/gateway-files.js';
import { RawConnection, requestBytes } from '../../support/raw-http.js';
import { messages } from '../harness.js';
import { Burst, burstRequest } from '../limits/burst.js';

export interface AccountFlaws {
  /** Of the key. */
  disabled: boolean;
  elsewhere: boolean;
  outOfScope: boolean;
  manages: boolean;
  billedInIran: boolean;
  suspended: boolean;
  overRequests: boolean;
  poor: boolean;
  /** Of the key: what it may spend is spent. */
  capped: boolean;
  budgeted: boolean;
  overTokens: boolean;
  gated: boolean;
  /** A request in flight holds all that is left of the balance. */
  held: boolean;
}

/** How a client API is asked, and the creator of the models that it serves. */
export interface DoorShape {
  readonly name: string;
  readonly path: string;
  readonly creator: string;
  /** The members of a sound request besides the model. */
  readonly body: YamlObject;
}

export const chatDoor: DoorShape = {
  name: 'chat',
  path: '/v1/chat/completions',
  creator: 'meta',
  body: { messages },
};

export interface Attempt extends AccountFlaws {
  method: string;
  door: DoorShape;
  /** Replaces the path of the door. */
  path: string | null;
  /** What the trusted proxy in front says. */
  country: string;
  address: string | null;
  withKey: boolean;
  tooLong: boolean;
  fields: YamlObject;
  /** `auto` leaves the provider to the walk. */
  id: 'pin' | 'auto';
  provider: 'acme' | 'keyless';
  /** The parts of the model's name: what is wrong with it. */
  flaws: string[];
  /** Replaces the id that the flaws make. */
  model: string | null;
}

const sound: Attempt = {
  ...{ disabled: false, elsewhere: false, outOfScope: false, manages: false },
  ...{ billedInIran: false, suspended: false, overRequests: false, poor: false, overTokens: false, gated: false },
  ...{ capped: false, budgeted: false, held: false },
  method: 'POST',
  door: chatDoor,
  path: null,
  country: 'DE',
  address: null,
  withKey: true,
  tooLong: false,
  fields: {},
  id: 'pin',
  provider: 'acme',
  flaws: [],
  model: null,
};

export interface Check {
  number: number;
  name: string;
  spoiled: Partial<Attempt>;
  status: number;
  code: string | undefined;
}

export function check(number: number, name: string, spoiled: Partial<Attempt>, status: number, code?: string): Check {
  return { number, name, spoiled, status, code };
}

/** Whose requests a minute are used up; every other attempt comes from an address of its own. */
export const busyAddress = '203.0.113.250';
const ipLimit = 1_000;

/** Callers are placed by the proxy on loopback, from which every attempt comes. */
export const behindProxy: YamlObject = {
  server: { trusted_proxies: ['127.0.0.1/32'], country_header: 'cf-ipcountry' },
  limits: { ip_requests_per_minute: ipLimit },
};

/** Earlier checks win where two spoil the same thing. */
export function spoiledBy(broken: readonly Check[], from: Partial<Attempt> = {}): Attempt {
  const parts = broken.map(({ spoiled }) => spoiled);
  return {
    ...Object.assign({}, sound, from, ...parts.toReversed()),
    fields: Object.assign({}, ...parts.map(({ fields }) => fields)),
    flaws: parts.flatMap(({ flaws }) => flaws ?? []),
  };
}

export const nameOf = (id: Attempt['id'], flaws: readonly string[]): string =>
  [id, ...[...new Set(flaws)].sort()].join('-');

function idOf({ model, id, provider, flaws, door }: Attempt): string {
  if (model !== null) return model;
  return `${id === 'pin' ? provider : 'auto'}/${door.creator}/${nameOf(id, flaws)}`;
}

/** The accounts that attempts need, each made when it is first needed. */
export class Accounts {
  private readonly made = new Map<string, Promise<TestAccount>>();

  constructor(
    private readonly client: GatewayClient,
    /** Serves the chat that uses up a key's tokens. */
    private readonly model: string | null,
    /** Starts a chat that stays in flight. */
    private readonly keepInFlight: (key: string) => Promise<void> = async () => {},
  ) {}

  for(attempt: AccountFlaws): Promise<TestAccount> {
    const { billedInIran, suspended, overRequests, poor, capped, budgeted, overTokens, gated, held } = attempt;
    const { disabled, elsewhere, outOfScope, manages } = attempt;
    const ofAccount = { billedInIran, suspended, overRequests, poor, budgeted, overTokens, gated, held };
    const flaws = { ...ofAccount, disabled, elsewhere, outOfScope, manages, capped };
    const name = JSON.stringify(flaws);
    const known = this.made.get(name) ?? this.make(flaws);
    this.made.set(name, known);
    return known;
  }

  private async make(flaws: AccountFlaws): Promise<TestAccount> {
    const { client } = this;
    const first = await client.createAccount({ credit: '10' });
    const { accountId, key } = first;
    const account = flaws.manages ? await this.managed(first) : first;
    const admin = (change: YamlObject) => expectOk(client.admin('PATCH', `/accounts/${accountId}`, change));
    if (flaws.overTokens) await expectOk(client.chat({ model: this.model, messages }, { key }));
    if (flaws.held) {
      await expectOk(client.admin('POST', `/accounts/${accountId}/credits`, { amount_usd: '-9.999' }));
      await admin({ overdraft: 'bounded' });
      await this.keepInFlight(key);
    }
    if (flaws.gated) {
      const policy = { providers: { allow: ['nobody'], deny: [] } };
      await expectOk(client.call('PUT', '/v1/routing-policy', policy, { key }));
    }
    if (flaws.overRequests) await expectOk(client.call('GET', '/v1/key', undefined, { key: account.key }));
    if (flaws.overRequests || flaws.overTokens) {
      const requests = flaws.overRequests ? { requests_per_minute: 1 } : {};
      await admin({ limits: { ...requests, ...(flaws.overTokens && { tokens_per_minute: 1 }) } });
    }
    if (flaws.poor) await expectOk(client.admin('POST', `/accounts/${accountId}/credits`, { amount_usd: '-10' }));
    if (flaws.budgeted) await admin({ budget: { limit_usd: '0' } });
    if (flaws.suspended) await admin({ status: 'suspended' });
    if (flaws.billedInIran) await admin({ billing_country: 'IR' });
    if (flaws.disabled || flaws.elsewhere || flaws.outOfScope || flaws.capped) {
      const terms = {
        ...(flaws.capped && { limit_usd: '0' }),
        disabled: flaws.disabled,
        allowed_ips: flaws.elsewhere ? ['192.0.2.1'] : null,
        allowed_models: flaws.outOfScope ? ['nobody/*'] : null,
      };
      await expectOk(client.admin('PATCH', `/accounts/${accountId}/keys/${account.keyId}`, terms));
    }
    return account;
  }

  /** The account with a management key beside its first one. */
  private async managed(account: TestAccount): Promise<TestAccount> {
    const fields = { name: 'manager', kind: 'management' };
    const { json } = await this.client.admin('POST', `/accounts/${account.accountId}/keys`, fields);
    return { ...account, key: json.token, keyId: json.id };
  }
}

async function expectOk(reply: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await reply;
  if (status >= 300) throw new Error(`${status}: ${text}`);
}

/** Takes every request that the busy address has in a minute. */
export async function useUpAddress(url: string): Promise<void> {
  const burst = await Burst.open(url);
  const request = burstRequest('GET', '/', { headers: { 'x-forwarded-for': busyAddress } });
  await burst.send(Array.from({ length: ipLimit }, () => request));
  burst.close();
}

let addresses = 0;
const ownAddress = () => `198.51.${100 + (++addresses >> 8)}.${addresses & 255}`;

export interface Answer {
  status: number;
  code: string | undefined;
}

/** Sends the attempt as bytes, since no client sends a content-length of 32 MiB without a body. */
export async function send(url: string, accounts: Accounts, attempt: Attempt, body?: YamlObject): Promise<Answer> {
  const content = JSON.stringify({ ...(body ?? { model: idOf(attempt), ...attempt.door.body }), ...attempt.fields });
  const headers = {
    'content-type': 'application/json',
    'cf-ipcountry': attempt.country,
    'x-forwarded-for': attempt.address ?? ownAddress(),
    ...(attempt.tooLong && { 'content-length': '33554433' }),
    ...(attempt.withKey && { authorization: `Bearer ${(await accounts.for(attempt)).key}` }),
  };
  const bytes = requestBytes(
    attempt.method,
    attempt.path ?? attempt.door.path,
    headers,
    attempt.tooLong ? '' : content,
  );
  const connection = await RawConnection.open(url);
  await connection.write(bytes);
  const { status, json } = await connection.readUntil(isWhole);
  connection.close();
  return { status, code: (json as { error?: { code?: string } } | undefined)?.error?.code };
}

function isWhole(received: Buffer): boolean {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return false;
  const length = /content-length: (\d+)/i.exec(received.subarray(0, headEnd).toString('latin1'))?.[1];
  return length !== undefined && received.length >= headEnd + 4 + Number(length);
}

export interface Pair {
  first: Check;
  second: Check;
  title: string;
}

/** Every two checks that can be broken at once, the earlier one first. */
export function pairsOf(checks: readonly Check[], together: (first: Check, second: Check) => boolean): Pair[] {
  return checks.flatMap((first, index) =>
    checks
      .slice(index + 1)
      .filter((second) => together(first, second))
      .map((second) => ({
        first,
        second,
        title: `${first.number} ${first.name} before ${second.number} ${second.name}`,
      })),
  );
}
