/** Makes a certificate that vouches for itself, for servers with TLS on loopback. Node can sign, but writes no certificates. */
import { generateKeyPairSync, sign } from 'node:crypto';

export interface SelfSigned {
  key: string;
  cert: string;
}

/** Valid for a day, for these names and their use as a trusted root. */
export function selfSigned(names: readonly string[]): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const signature = sequence(objectId(1, 2, 840, 10045, 4, 3, 2));
  const subject = sequence(element(0x31, sequence(objectId(2, 5, 4, 3), element(0x0c, Buffer.from(names[0]!)))));
  const now = Date.now();
  const day = 24 * 60 * 60 * 1000;
  const altNames = sequence(...names.map((name) => element(0x82, Buffer.from(name))));
  const isAuthority = sequence(element(0x01, Buffer.from([0xff])));
  const extensions = sequence(
    sequence(objectId(2, 5, 29, 17), element(0x04, altNames)),
    sequence(objectId(2, 5, 29, 19), element(0x01, Buffer.from([0xff])), element(0x04, isAuthority)),
  );
  const body = sequence(
    element(0xa0, element(0x02, Buffer.from([2]))),
    element(0x02, Buffer.from([1])),
    signature,
    subject,
    sequence(utcTime(now - day), utcTime(now + day)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, extensions),
  );
  const signed = sign('sha256', body, privateKey);
  const cert = sequence(body, signature, element(0x03, Buffer.concat([Buffer.from([0]), signed])));
  const lines = cert
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

/** An element of DER: its tag, its length and its content. */
function element(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return element(0x30, Buffer.concat(parts));
}

function objectId(first: number, second: number, ...rest: number[]): Buffer {
  const bytes = rest.flatMap((part) => {
    const groups = [part & 127];
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 127) | 128);
    return groups;
  });
  return element(0x06, Buffer.from([40 * first + second, ...bytes]));
}

function utcTime(ms: number): Buffer {
  return element(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));
}
