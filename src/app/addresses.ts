/** The addresses at which clients reach the gateway: the configured ones, or else ones made from the host and the port in use. */
import { fileURLToPath } from 'node:url';
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

/** What the dashboard's API needs of the configuration. */
export function dashboardSettings(config: Config) {
  const { registration, welcomeCreditPico, payments, notices, server } = config;
  return {
    ...{ registration, welcomeCreditPico, payments: payments.processor, lowBalancePico: notices.lowBalancePico },
    configured: { baseUrl: server.baseUrl, dashboardUrl: server.dashboardUrl },
    secure: dashboardOrigin(config).secure,
    files: fileURLToPath(new URL('../../dashboard/dist', import.meta.url)),
  };
}
