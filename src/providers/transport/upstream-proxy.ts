/** Which upstreams are called through a proxy: `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` of the environment. */
import { AddressRanges, canonicalRange, isLoopbackHost } from '../../base/ip-address.js';
import { ConfigFault } from '../../config/config-fault.js';
import type { Address } from './upstream-address.js';

export interface UpstreamProxy {
  /** Whether the proxy itself is spoken to over TLS. */
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** The value of `proxy-authorization`; null without credentials. */
  readonly authorization: string | null;
  /** The variable that names the proxy. Errors show it instead of the address, because clients see them. */
  readonly variable: string;
}

/** Chooses the proxy of an upstream; null = direct. */
export type ProxyChoice = (address: Address) => UpstreamProxy | null;

type Environment = Readonly<Record<string, string | undefined>>;

export const noProxy: ProxyChoice = () => null;

/** Throws a ConfigFault where a variable does not hold the address of a proxy. */
export function proxiesOf(env: Environment): ProxyChoice {
  const forHttps = readProxy(env, 'HTTPS_PROXY');
  const forHttp = readProxy(env, 'HTTP_PROXY');
  if (!forHttps && !forHttp) return noProxy;
  const isExempt = exemptionsOf(textOf(env, 'NO_PROXY')?.text ?? '');
  return (address) => {
    const proxy = address.secure ? forHttps : forHttp;
    return proxy && !isLoopbackHost(address.hostname) && !isExempt(address) ? proxy : null;
  };
}

/** The lower-case name wins, as it does for curl. An empty value is none. */
function textOf(env: Environment, name: string): { variable: string; text: string } | null {
  for (const variable of [name.toLowerCase(), name]) {
    const text = env[variable]?.trim();
    if (text) return { variable, text };
  }
  return null;
}

function readProxy(env: Environment, name: string): UpstreamProxy | null {
  const found = textOf(env, name);
  if (!found) return null;
  const { variable, text } = found;
  try {
    const url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
    const secure = url.protocol === 'https:';
    if (!secure && url.protocol !== 'http:') throw new TypeError();
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    return {
      secure,
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: Number(url.port || (secure ? 443 : 80)),
      authorization: credentials === ':' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`,
      variable,
    };
  } catch {
    // The address may carry a password, so it is not quoted.
    throw new ConfigFault([
      `environment: ${variable}: found a text, expected an http:// or https:// address of a proxy`,
    ]);
  }
}

/**
 * `NO_PROXY` is a list of host names, each with its subdomains, addresses and ranges such as 10.0.0.0/8, each optionally with a port;
 * `*` exempts everything.
 */
function exemptionsOf(list: string): (address: Address) => boolean {
  const entries = list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  if (entries.includes('*')) return () => true;
  const tests = entries.map(exemptionOf);
  return ({ hostname, port }) => tests.some((test) => test(hostname.toLowerCase(), port));
}

function exemptionOf(entry: string): (hostname: string, port: number) => boolean {
  const range = canonicalRange(entry);
  if (range) {
    const ranges = new AddressRanges([range]);
    return (hostname) => ranges.includes(hostname);
  }
  const [, bracketed, plain, onlyPort] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const name = (bracketed ?? plain ?? entry).replace(/^\*?\./, '');
  return (hostname, port) =>
    (hostname === name || hostname.endsWith(`.${name}`)) && (onlyPort === undefined || Number(onlyPort) === port);
}
