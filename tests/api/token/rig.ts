/** A gateway that allows scripted issuers, with a project that trusts one of them, and callers of `/v1/token`. */
import type { JWTPayload } from 'jose';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { Json, Reply } from '../../support/client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { ManualClock } from '../../support/manual-clock.js';
import { type ScriptedIssuer, startIssuer } from '../../support/scripted-issuer.js';
import { type ScriptedUpstream, startUpstream } from '../../support/scripted-upstream.js';
import { chatCatalogue } from '../catalogue.js';
import { type Manager, managerOf } from '../projects/manager.js';

const grant = 'urn:ietf:params:oauth:grant-type:token-exchange';
const jwt = 'urn:ietf:params:oauth:token-type:jwt';
export const base = 'https://llm.example.com';

export interface TokenRig {
  gateway: TestGateway;
  upstream: ScriptedUpstream;
  issuer: ScriptedIssuer;
  clock: ManualClock;
  manager: Manager;
}

/** One gateway a file. Each test begins in a minute of its own, so that no test uses up the limits of another. */
export function useTokenRig(more: Json = {}): TokenRig {
  const rig = {} as TokenRig;
  beforeAll(async () => {
    rig.issuer = await startIssuer();
    rig.upstream = await startUpstream();
    rig.clock = new ManualClock();
    rig.gateway = await startGateway({
      clock: rig.clock,
      catalogue: chatCatalogue(rig.upstream.url),
      config: { server: { base_url: base }, workload_issuers: [rig.issuer.url, ...[more.issuers ?? []].flat()] },
    });
    rig.manager = await managerOf(rig);
  });
  beforeEach(() => {
    rig.clock.advance(61_000);
    rig.upstream.reset();
    Object.assign(rig.issuer, { intercept: null, configuration: {} });
    rig.issuer.calls.length = 0;
  });
  afterAll(async () => {
    await rig.gateway?.stop();
    await rig.issuer?.stop();
    await rig.upstream?.stop();
  });
  return rig;
}

let projectCount = 0;

/** A new project with these entries, each by default of the scripted issuer and for the subject `job:deploy`. */
export async function trusting({ manager, issuer }: TokenRig, ...entries: Json[]): Promise<string> {
  const trust = (entries.length === 0 ? [{}] : entries).map((entry) => ({
    ...{ issuer: issuer.url, subject: 'job:deploy' },
    ...entry,
  }));
  const made = await manager.call('POST', '/projects', { name: `team ${++projectCount}`, trust });
  expect(made.status, made.text).toBe(201);
  return made.json.id;
}

/** Claims of a token that holds for an hour, for a project. */
export function claimsFor({ issuer, clock }: TokenRig, project: string, more: JWTPayload = {}): JWTPayload {
  const now = Math.floor(clock.now() / 1000);
  const aud = `${base}/projects/${project}`;
  return { ...{ iss: issuer.url, sub: 'job:deploy', aud, iat: now, nbf: now, exp: now + 3600 }, ...more };
}

export async function sendToken({ gateway }: Pick<TokenRig, 'gateway'>, form: Record<string, string>): Promise<Reply> {
  return gateway.call('POST', '/v1/token', new URLSearchParams(form).toString(), {
    key: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
}

export const exchangeForm = (audience: string, subject_token: string): Record<string, string> => ({
  ...{ grant_type: grant, subject_token, subject_token_type: jwt, audience },
});

/** Signs the claims, after a change, and exchanges the token. */
export async function exchange(rig: TokenRig, project: string, more: JWTPayload = {}): Promise<Reply> {
  return sendToken(rig, exchangeForm(project, await rig.issuer.sign(claimsFor(rig, project, more))));
}

export function expectOauthError(reply: Reply, status: number, error: string, says?: RegExp): void {
  expect([reply.status, reply.json.error], reply.text).toEqual([status, error]);
  expect(Object.keys(reply.json)).toEqual(['error', 'error_description']);
  // RFC 6749: printable ASCII without quotation marks and backslashes.
  expect(reply.json.error_description).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  if (says) expect(reply.json.error_description).toMatch(says);
}
