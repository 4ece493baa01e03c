/** The addresses at which clients reach the gateway: the configured ones, or else ones made from the host and the port in use. */
import type { Config } from '../config/config.js';

export interface Addresses {
  base: string;
  dashboard: string;
  docs: string;
}

export function localAddress({ server: { host } }: Config, port: number): string {
  const reachable =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `http://${reachable}:${port}`;
}

export function addressesOf(config: Config, port: number): Addresses {
  const { baseUrl, dashboardUrl, docsUrl } = config.server;
  const base = baseUrl ?? localAddress(config, port);
  return { base, dashboard: dashboardUrl ?? `${base}/dashboard`, docs: docsUrl ?? `${base}/docs` };
}

/** The origin at which a browser reaches the dashboard decides whether its cookies are secure. The default is this host over http. */
export function dashboardOrigin({ server: { baseUrl, dashboardUrl } }: Config): { baseUrl: string; secure: boolean } {
  const address = dashboardUrl ?? baseUrl ?? 'http://localhost';
  return { baseUrl: new URL(address).origin, secure: address.startsWith('https:') };
}
