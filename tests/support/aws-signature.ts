/** AWS's Signature Version 4 worked out from the request that arrived, apart from the library that signed it. */
import { createHash, createHmac } from 'node:crypto';

export interface SignedRequest {
  method: string;
  /** As it stands in the request line, query included. */
  path: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer;
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

/** AWS signs a path that is encoded twice, so that existing escapes stay visible. */
const encodeAgain = (path: string): string =>
  path.replace(/[^A-Za-z0-9\-._~/]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** The signature that a request must have by what its `authorization` says about it. */
export function signatureOf(request: SignedRequest, secret: string): string {
  const { method, headers, body } = request;
  const [path = '', query = ''] = request.path.split('?');
  const { names, scope, date } = statementOf(request);
  const canonical = [
    method,
    encodeAgain(path),
    query.split('&').sort().join('&'),
    ...names.map((name) => `${name}:${headers[name]!.trim().replace(/\s+/g, ' ')}`),
    '',
    names.join(';'),
    sha256(body),
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope.join('/'), sha256(canonical)].join('\n');
  const key = [date!, ...scope.slice(1)].reduce<string | Buffer>((made, part) => hmac(made, part), `AWS4${secret}`);
  return hmac(key, toSign).toString('hex');
}

export function statementOf({ headers }: Pick<SignedRequest, 'headers'>) {
  const found = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/.exec(
    headers.authorization ?? '',
  );
  if (!found) throw new Error(`no signature: ${headers.authorization}`);
  const scope = found[2]!.split('/');
  return { accessKeyId: found[1]!, scope, date: scope[0], names: found[3]!.split(';'), signature: found[4]! };
}
