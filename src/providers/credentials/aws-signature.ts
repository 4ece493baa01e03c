/** A call to Bedrock signed after AWS's Signature Version 4, over the very bytes and the very target that are sent (wire 5). */
import aws4 from 'aws4';
import { type Address, requestTarget } from '../transport/upstream-address.js';
import type { AwsKeys, Environment } from './aws-keys.js';

export interface CallToSign {
  address: Address;
  path: string;
  /** A string is latin1: one character a byte. */
  body: string | Buffer;
  region: string;
  nowMs: number;
}

/** To be sent beside `content-type: application/json`, which is signed too. */
export function signatureHeaders({ address, path, body, region, nowMs }: CallToSign, keys: AwsKeys): string[] {
  const date = new Date(nowMs).toISOString().replace(/[:-]|\.\d{3}/g, '');
  const { headers = {} } = aws4.sign(
    {
      service: 'bedrock',
      region,
      method: 'POST',
      path: requestTarget(address, path),
      body: typeof body === 'string' ? Buffer.from(body, 'latin1') : body,
      headers: { Host: address.host, 'Content-Type': 'application/json', 'X-Amz-Date': date },
    },
    keys,
  );
  const token = keys.sessionToken === undefined ? [] : ['x-amz-security-token', keys.sessionToken];
  return ['x-amz-date', date, ...token, 'authorization', String(headers.Authorization)];
}

/** A label of the host, as in `bedrock-runtime.eu-central-1.amazonaws.com`; of the environment where the host has none. */
export function regionOf({ hostname }: Pick<Address, 'hostname'>, env: Environment): string {
  const label = hostname.split('.').find((each) => /^[a-z]{2,3}(?:-[a-z]+)+-\d{1,2}$/.test(each));
  return label ?? (env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1');
}
