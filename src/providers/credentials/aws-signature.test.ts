import { describe, expect, it } from 'vitest';
import { signatureOf, statementOf } from '../../../tests/support/aws-signature.js';
import { asLatin1 } from '../../base/latin1.js';
import { addressOf } from '../transport/upstream-address.js';
import { regionOf, signatureHeaders } from './provider-credentials.js';

const secretAccessKey = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey };

/** AWS's published test suite: get-vanilla, post-vanilla, get-vanilla-query-order-key-case. */
describe('the measure that signatures are held against', () => {
  it.each([
    ['GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    ['GET', '/?Param2=value2&Param1=value1', 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500'],
  ])('gives AWS\u2019s own figure for %s %s', (method, path, signature) => {
    const scope = '20150830/us-east-1/service/aws4_request';
    const authorization = `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=host;x-amz-date, Signature=${signature}`;
    const headers = { host: 'example.amazonaws.com', 'x-amz-date': '20150830T123600Z', authorization };
    expect(signatureOf({ method, path, headers, body: Buffer.alloc(0) }, secretAccessKey)).toBe(signature);
  });
});

describe('the signature of a call', () => {
  const call = (
    baseUrl: string,
    path: string,
    body: Parameters<typeof signatureHeaders>[0]['body'],
    sessionToken?: string,
  ) => {
    const address = addressOf(baseUrl);
    const list = signatureHeaders(
      { address, path, body, region: 'eu-central-1', nowMs: Date.parse('2026-11-15T07:08:09.123Z') },
      { ...keys, ...(sessionToken && { sessionToken }) },
    );
    const headers: Record<string, string> = { host: address.host, 'content-type': 'application/json' };
    headers['content-length'] = String(body.length);
    for (let at = 0; at < list.length; at += 2) headers[list[at]!] = list[at + 1]!;
    return headers;
  };

  it.each([
    ['http://bedrock.example', '/model/anthropic.claude-v1%3A0/converse', '{}'],
    ['http://bedrock.example:8080/proxy/', '/model/arn%3Aaws%3Abedrock%3A%3A1%3Ax%2Fy/converse-stream', '{"a":"b"}'],
    ['http://bedrock.example?v=2', '/model/x/converse', Buffer.from('{"text":"Grüße 字"}')],
    ['http://bedrock.example', '/model/x/converse', Buffer.from('{"text":"Grüße 字"}').toString('latin1')],
    ['http://bedrock.example', '/model/x/converse', ''],
  ])('at %s, path %s, is the one that AWS computes from the request', (baseUrl, path, body) => {
    for (const token of [undefined, 'session/token+of=AWS']) {
      const headers = call(baseUrl, path, typeof body === 'string' ? asLatin1(body) : body, token);
      const { signature, scope, names, accessKeyId } = statementOf({ headers });
      expect([accessKeyId, scope.join('/')]).toEqual(['AKIDEXAMPLE', '20261115/eu-central-1/bedrock/aws4_request']);
      expect(headers['x-amz-date']).toBe('20261115T070809Z');
      expect(names).toEqual(expect.arrayContaining(['host', 'x-amz-date']));
      if (token)
        expect([headers['x-amz-security-token'], names.includes('x-amz-security-token')]).toEqual([token, true]);
      const { basePath, search } = addressOf(baseUrl);
      const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
      const sent = { method: 'POST', path: `${basePath}${path}${search}`, headers, body: bytes };
      expect(signature).toBe(signatureOf(sent, secretAccessKey));
      expect(signature).not.toBe(signatureOf({ ...sent, body: Buffer.from('other') }, secretAccessKey));
      expect(signature).not.toBe(signatureOf({ ...sent, path: '/model/y/converse' }, secretAccessKey));
    }
  });
});

describe('the region that is signed for', () => {
  it.each([
    ['bedrock-runtime.eu-central-1.amazonaws.com', 'eu-central-1'],
    ['bedrock-runtime-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
    ['bedrock-runtime.cn-north-1.amazonaws.com.cn', 'cn-north-1'],
    ['vpce-1a2b.bedrock-runtime.ap-southeast-2.vpce.amazonaws.com', 'ap-southeast-2'],
  ])('of %s is %s', (hostname, region) => {
    expect(regionOf({ hostname }, { AWS_REGION: 'us-west-2' })).toBe(region);
  });

  it('is the environment\u2019s where the host has none', () => {
    expect(regionOf({ hostname: '127.0.0.1' }, { AWS_REGION: 'us-west-2', AWS_DEFAULT_REGION: 'x' })).toBe('us-west-2');
    expect(regionOf({ hostname: 'proxy.example' }, { AWS_DEFAULT_REGION: 'eu-west-3' })).toBe('eu-west-3');
    expect(regionOf({ hostname: 'proxy.example' }, {})).toBe('us-east-1');
  });
});
