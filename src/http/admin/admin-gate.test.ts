import { beforeEach, describe, expect, it } from 'vitest';
import { adminToken, type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';

let fixture: HttpFixture;

beforeEach(async () => {
  fixture = await httpFixture();
});

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

describe('the admin token', () => {
  const paths: [Method, string][] = [
    ['GET', '/accounts'],
    ['POST', '/accounts'],
    ['GET', '/accounts/x'],
    ['PATCH', '/accounts/x'],
    ['POST', '/accounts/x/credits'],
    ['GET', '/accounts/x/ledger'],
    ['POST', '/accounts/x/keys'],
    ['GET', '/accounts/x/keys'],
    ['DELETE', '/accounts/x/keys/y'],
    ['GET', '/routes'],
    ['PUT', '/models/meta/llama/availability'],
    ['DELETE', '/routes/a/b/c/d/hold'],
    ['POST', '/catalogue/reload'],
    ['GET', '/catalogue/retirements'],
    ['GET', '/audit'],
  ];

  it.each(paths)(
    '401 authentication_error without it, with a wrong one and with a key: %s %s',
    async (method, path) => {
      const wrong = [
        undefined,
        'Bearer wrong',
        'Bearer ',
        `bearer ${adminToken}`,
        adminToken,
        fixture.asKey.authorization,
      ];
      for (const authorization of wrong) {
        const answer = await fixture.app.inject({
          method,
          url: `/admin/v1${path}`,
          headers: authorization ? { authorization } : {},
        });
        expect(answer.statusCode).toBe(401);
        expect(answer.json().error).toMatchObject({ type: 'authentication_error', code: 'authentication_error' });
      }
    },
  );
});
