/** The parts of a route's address, and the request target of a call: the sent one and the signed one are the same. */

export interface Address {
  readonly secure: boolean;
  /** The value of the `host` header. */
  readonly host: string;
  readonly hostname: string;
  readonly port: number;
  readonly origin: string;
  /** Without a trailing slash. */
  readonly basePath: string;
  readonly search: string;
}

export function addressOf(baseUrl: string): Address {
  const { origin, protocol, hostname, port, host, pathname, search } = new URL(baseUrl);
  const secure = protocol === 'https:';
  return {
    secure,
    host,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (secure ? 443 : 80)),
    origin,
    basePath: pathname.replace(/\/+$/, ''),
    search,
  };
}

/** `path` may have a query. */
export function requestTarget({ basePath, search }: Pick<Address, 'basePath' | 'search'>, path: string): string {
  return `${basePath}${path}${path.includes('?') ? search.replace('?', '&') : search}`;
}
