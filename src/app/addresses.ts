/** The addresses under which the gateway is reached: the configured ones, else made from the host and port in use. */
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
