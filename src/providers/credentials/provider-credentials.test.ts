import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../../tests/support/manual-clock.js';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import { asLatin1 } from '../../base/latin1.js';
import { silentLogger } from '../../base/logger.js';
import type { Provider, Route } from '../../catalogue/route.js';
import type { Environment } from './aws-keys.js';
import { CredentialFault } from './credentials.js';
import type { LoadPackage } from './optional-package.js';
import { keyHeaders, ProviderCredentials } from './provider-credentials.js';

const anyRoute = smallSnapshot().routes.get('acme/meta/llama/defra')!;
const routeOf = (provider: Partial<Provider>): Route => ({
  ...anyRoute,
  provider: { ...anyRoute.provider, ...provider },
});
const signing = routeOf({ dialect: 'bedrock', auth: 'aws', apiKey: null });
const tokened = routeOf({ dialect: 'gemini', auth: 'google', apiKey: null });

function credentialsOf(env: Environment = {}, load?: LoadPackage) {
  const clock = new ManualClock();
  return { clock, credentials: new ProviderCredentials({ clock, env, logger: silentLogger, ...(load && { load }) }) };
}

const shownAs = (headers: readonly string[], name: string) => headers[headers.indexOf(name) + 1];
const faultOf = (headers: unknown) => Promise.resolve(headers).catch((error: unknown) => error);
const absent: LoadPackage = async (name) => {
  throw Object.assign(new Error(`Cannot find package '${name}' imported from /srv/x`), {
    code: 'ERR_MODULE_NOT_FOUND',
  });
};

describe('the headers of a provider with a key', () => {
  it('are one and the same list, given at once', () => {
    const { credentials } = credentialsOf();
    const first = credentials.headersFor(anyRoute, '/chat/completions', asLatin1('{}'));
    expect(shownAs(first as string[], 'authorization')).toBe('Bearer secret');
    expect(credentials.headersFor(anyRoute, '/other', asLatin1('[]'))).toBe(first);
  });
});

describe('AWS\u2019s credentials', () => {
  const keys = { AWS_ACCESS_KEY_ID: 'AKIDENV', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 't' };

  it('of the environment sign at once, without the SDK', () => {
    const { credentials } = credentialsOf(keys, absent);
    const headers = credentials.headersFor(signing, '/model/x/converse', asLatin1('{}')) as string[];
    expect(shownAs(headers, 'authorization')).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDENV\//);
    expect(shownAs(headers, 'x-amz-security-token')).toBe('t');
  });

  it('are the chain\u2019s where a profile is named, asked once until they are about to expire', async () => {
    let asked = 0;
    const { clock, credentials } = credentialsOf({ ...keys, AWS_PROFILE: 'p' }, async () => ({
      defaultProvider: () => async () => {
        asked++;
        const expiration = new Date(clock.now() + 3_600_000);
        return { accessKeyId: `AKID${asked}`, secretAccessKey: 's', sessionToken: 'st', expiration };
      },
    }));
    const authorization = async () =>
      shownAs(await credentials.headersFor(signing, '/model/x/converse', asLatin1('{}')), 'authorization');
    expect(await authorization()).toContain('Credential=AKID1/');
    expect(await authorization()).toContain('Credential=AKID1/');
    clock.advance(3_600_000);
    expect(await authorization()).toContain('Credential=AKID2/');
    expect(asked).toBe(2);
  });

  it.each([
    ['Could not load credentials from any providers', 'no AWS credentials could be obtained'],
    ['Profile secret-profile could not be found', 'its AWS profile has no usable credentials'],
    ['The SSO session associated with this profile has expired', 'its AWS session has expired'],
    ['Command failed: /srv/give-me --password hunter2', 'no AWS credentials could be obtained'],
  ])('that fail with "%s" are explained without its words', async (message, reason) => {
    const { credentials } = credentialsOf({ AWS_PROFILE: 'p' }, async () => ({
      defaultProvider: () => async () => {
        throw new Error(message);
      },
    }));
    expect(await faultOf(credentials.headersFor(signing, '/x', asLatin1('{}')))).toEqual(new CredentialFault(reason));
  });

  it('say what is missing where the SDK is not installed', async () => {
    const { credentials } = credentialsOf({ AWS_PROFILE: 'p' }, absent);
    const fault = (await faultOf(credentials.headersFor(signing, '/x', asLatin1('{}')))) as Error;
    expect(fault).toBeInstanceOf(CredentialFault);
    expect(fault.message).toContain('@aws-sdk/credential-provider-node');
    expect(fault.message).not.toContain('/srv');
  });
});

describe('AWS\u2019s own chain', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-aws-'));
  beforeEach(() => {
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'credentials'));
    vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'config'));
    vi.stubEnv('AWS_PROFILE', 'lodestone');
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true, maxRetries: 1 });
  });

  it('reads shared files, and reads them again when they were replaced', async () => {
    const { clock, credentials } = credentialsOf(process.env);
    const write = (id: string) =>
      writeFileSync(join(folder, 'credentials'), `[lodestone]\naws_access_key_id = ${id}\naws_secret_access_key = s\n`);
    const keyId = async () =>
      /Credential=(\w+)/.exec(
        shownAs(await credentials.headersFor(signing, '/x', asLatin1('{}')), 'authorization')!,
      )![1];
    write('AKIDONE');
    expect(await keyId()).toBe('AKIDONE');
    write('AKIDTWO');
    clock.advance(5 * 60_000);
    await expect.poll(keyId).toBe('AKIDTWO');
  });
});

describe('Google\u2019s credentials', () => {
  const library = (tokens: string[], expiryOf: (at: number) => number | undefined, project: string | null = null) => ({
    GoogleAuth: class {
      async getClient() {
        return {
          get credentials() {
            return { expiry_date: expiryOf(0) };
          },
          async getRequestHeaders() {
            return new Headers({
              authorization: `Bearer ${tokens.shift()}`,
              ...(project && { 'x-goog-user-project': project }),
              'x-other': 'not shown',
            });
          },
        };
      }
    },
  });

  it('are a token that is asked for once, in a list that stays the same until it is another one', async () => {
    const tokens = ['one', 'two'];
    const { clock, credentials } = credentialsOf({}, async () =>
      library(tokens, () => clock.now() + 3_600_000, 'paying-project'),
    );
    const first = await credentials.headersFor(tokened, '/x', asLatin1('{}'));
    expect(shownAs(first, 'authorization')).toBe('Bearer one');
    expect(shownAs(first, 'x-goog-user-project')).toBe('paying-project');
    expect(first).not.toContain('x-other');
    expect(credentials.headersFor(tokened, '/y', asLatin1('[]'))).toBe(first);
    clock.advance(3_600_000);
    const second = await credentials.headersFor(tokened, '/x', asLatin1('{}'));
    expect(shownAs(second, 'authorization')).toBe('Bearer two');
    expect(tokens).toEqual([]);
  });

  it('are looked for anew after an attempt that hung', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { GoogleAuth: Found } = library(['found'], () => undefined);
    let hangs = true;
    class GoogleAuth extends Found {
      override getClient(): ReturnType<InstanceType<typeof Found>['getClient']> {
        return hangs ? new Promise(() => {}) : super.getClient();
      }
    }
    const { clock, credentials } = credentialsOf({}, async () => ({ GoogleAuth }));
    const hung = faultOf(credentials.headersFor(tokened, '/x', asLatin1('{}')));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await hung).toEqual(new CredentialFault('no credentials could be obtained within 10 seconds'));
    hangs = false;
    clock.advance(5_000);
    const headers = credentials.headersFor(tokened, '/x', asLatin1('{}'));
    await vi.advanceTimersByTimeAsync(10_000);
    vi.useRealTimers();
    expect(shownAs(await headers, 'authorization')).toBe('Bearer found');
  });

  it.each([
    ['Could not load the default credentials. Browse to https://x', 'no Google credentials could be found'],
    ['invalid_grant: Token has been expired or revoked.', 'its Google credentials have expired or were revoked'],
    ['The file at /srv/key.json does not exist, or it is not a file.', 'its Google credentials file cannot be read'],
    ['request to http://169.254.169.254/ failed', 'no Google access token could be obtained'],
  ])('that fail with "%s" are explained without its words, and are looked for again', async (message, reason) => {
    let fails = true;
    const { clock, credentials } = credentialsOf({}, async () => {
      if (fails) throw new Error(message);
      return library(['found'], () => undefined);
    });
    expect(await faultOf(credentials.headersFor(tokened, '/x', asLatin1('{}')))).toEqual(new CredentialFault(reason));
    fails = false;
    clock.advance(5_000);
    expect(shownAs(await credentials.headersFor(tokened, '/x', asLatin1('{}')), 'authorization')).toBe('Bearer found');
  });
});

const headersOf = (dialect: string, apiKey: string | null) => {
  const list = keyHeaders({ dialect, apiKey });
  const pairs = list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1]]] : []));
  return Object.fromEntries(pairs) as Record<string, string>;
};

const entra = 'eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0.c2ln-_';

describe('a key is shown as its dialect wants it', () => {
  it.each<[string, string, string, string]>([
    ['openai', 'sk-1', 'authorization', 'Bearer sk-1'],
    ['sandbox', 'sk-1', 'authorization', 'Bearer sk-1'],
    ['anthropic', 'sk-ant-1', 'x-api-key', 'sk-ant-1'],
    ['azure', '0123abcd', 'api-key', '0123abcd'],
    ['azure', entra, 'authorization', `Bearer ${entra}`],
    ['gemini', 'AIzaSy0', 'x-goog-api-key', 'AIzaSy0'],
    ['gemini', 'ya29.a0', 'authorization', 'Bearer ya29.a0'],
    ['bedrock', 'ABSKQmVk', 'authorization', 'Bearer ABSKQmVk'],
  ])('%s: %s as %s', (dialect, key, name, value) => {
    const headers = headersOf(dialect, key);
    expect(headers[name]).toBe(value);
    expect(Object.values(headers).filter((each) => each.includes(key))).toHaveLength(1);
  });

  it('and without one, nothing is', () => {
    for (const dialect of ['openai', 'anthropic', 'azure', 'gemini', 'bedrock'] as const) {
      expect(Object.keys(headersOf(dialect, null))).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/authorization|key/)]),
      );
    }
    expect(headersOf('anthropic', null)['anthropic-version']).toBe('2023-06-01');
  });
});
