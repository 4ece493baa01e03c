/** Accepts a request target such as `http://host/v1/key`, which a client sends to a proxy and every server has to take (RFC 9112, 3.2.2). */
import type { IncomingMessage } from 'node:http';
import { rawHeader } from './headers.js';

const absoluteTarget = /^https?:\/\/([^/?#]+)([/?].*)?$/i;

/** Turns an absolute target into a path. One for another host than the `Host` header names stays, and is no known path. */
export function toOriginForm(req: IncomingMessage): void {
  if (req.url === undefined || req.url.startsWith('/')) return;
  const [, host, rest = '/'] = absoluteTarget.exec(req.url) ?? [];
  if (host === undefined || host.toLowerCase() !== rawHeader(req, 'host')?.toLowerCase()) return;
  req.url = rest.startsWith('/') ? rest : `/${rest}`;
}
