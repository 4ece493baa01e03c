/** Which secrets a provider takes, and what of them is kept. */
import { generateKeyPairSync } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../catalogue/route.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import { checkSecret } from './credential-fields.js';

const private_key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  ...{ type: 'pkcs8', format: 'pem' },
}) as string;
const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  ...{ type: 'pkcs8', format: 'pem' },
}) as string;
const account = { type: 'service_account', client_email: 'a@b.iam.gserviceaccount.com', private_key };

const provider = (id: string, auth: string, dialect = 'openai') => [id, { id, auth, dialect }] as const;
const snapshot = {
  providers: new Map<string, unknown>([
    provider('plain', 'key'),
    provider('azure', 'key'),
    provider('bedrock', 'aws', 'bedrock'),
    provider('vertex', 'google', 'gemini'),
    provider('open', 'none'),
  ]),
} as unknown as Snapshot;
const request = { url: '/v1/credentials', routeOptions: { url: '/v1/credentials' } } as unknown as FastifyRequest;

const check = (id: string, secret: Record<string, unknown>) => checkSecret(request, snapshot, id, secret);

function refusal(id: string, secret: Record<string, unknown>): { param: unknown; message: string } {
  try {
    check(id, secret);
  } catch (error) {
    const { values, message } = error as GatewayError;
    return { param: (values as { param: string }).param, message };
  }
  throw new Error('It was accepted.');
}

describe('a secret', () => {
  it.each([
    ['plain', { api_key: 'key' }],
    ['azure', { api_key: 'key', resource: 'our-resource' }],
    ['bedrock', { api_key: 'bearer' }],
    ['bedrock', { access_key_id: 'AKIA', secret_access_key: 's/+=' }],
    ['bedrock', { access_key_id: 'AKIA', secret_access_key: 's', session_token: 't' }],
    ['vertex', { service_account: account, project: 'our-project' }],
  ])('of %s is taken: %o', (id, secret) => {
    expect(() => check(id, secret)).not.toThrow();
  });

  it.each([
    ['plain', { api_key: 'two\nlines' }, 'secret.api_key'],
    ['plain', { api_key: 'x\r\nhost: elsewhere' }, 'secret.api_key'],
    ['plain', { access_key_id: 'AKIA', secret_access_key: 's' }, 'secret.api_key'],
    ['plain', { api_key: 'x', base_url: 'http://elsewhere.test' }, 'secret.base_url'],
    ['azure', { api_key: 'x' }, 'secret.resource'],
    ['azure', { api_key: 'x', resource: 'elsewhere.test/x' }, 'secret.resource'],
    ['azure', { api_key: 'x', resource: 'a' }, 'secret.resource'],
    ['azure', { api_key: 'x', resource: 'a'.repeat(65) }, 'secret.resource'],
    ['bedrock', { access_key_id: 'AKIA' }, 'secret.secret_access_key'],
    ['vertex', { service_account: account, project: 'p@elsewhere.test' }, 'secret.project'],
    ['vertex', { service_account: JSON.stringify(account), project: 'our-project' }, 'secret.service_account'],
    [
      'vertex',
      { service_account: { ...account, private_key: ecKey }, project: 'our-project' },
      'secret.service_account',
    ],
    [
      'vertex',
      { service_account: { ...account, token_uri: 'https://elsewhere.test/token' }, project: 'our-project' },
      'secret.service_account',
    ],
    ['open', { api_key: 'x' }, 'provider'],
    ['nobody', { api_key: 'x' }, 'provider'],
  ])('of %s is refused: %o', (id, secret, param) => {
    const refused = refusal(id, secret as Record<string, unknown>);
    expect(refused.param).toBe(param);
    for (const part of ['lines', 'elsewhere', 'PRIVATE']) expect(refused.message).not.toContain(part);
  });

  it('of a service account: only what signs is kept, and no address', () => {
    const sent = {
      ...{ ...account, private_key_id: 'k1', token_uri: 'https://oauth2.googleapis.com/token' },
      ...{ auth_uri: 'https://elsewhere.test', universe_domain: 'elsewhere.test', project_id: 'another' },
    };
    const { kept } = check('vertex', { service_account: sent, project: 'our-project' });
    expect(kept).toEqual({
      service_account: { client_email: account.client_email, private_key, private_key_id: 'k1' },
      project: 'our-project',
    });
  });
});
