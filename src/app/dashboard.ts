/** What the dashboard takes from the configuration. */
import { fileURLToPath } from 'node:url';
import { version } from '../base/version.js';
import type { Config } from '../config/config.js';
import type { DashboardDeps } from '../http/dashboard/dashboard-deps.js';
import type { Addresses } from './addresses.js';

/** The address by which a browser reaches the dashboard decides about its cookies; without one it is this host, over http. */
export function dashboardAddress({ server: { baseUrl, dashboardUrl } }: Config): { baseUrl: string; secure: boolean } {
  const address = dashboardUrl ?? baseUrl ?? 'http://localhost';
  return { baseUrl: new URL(address).origin, secure: address.startsWith('https:') };
}

export function dashboardSettings(config: Config, addresses: () => Addresses) {
  const { registration, welcomeCreditPico, payments, notices, server } = config;
  return {
    registration,
    welcomeCreditPico,
    configured: { baseUrl: server.baseUrl, dashboardUrl: server.dashboardUrl },
    addresses,
    secure: dashboardAddress(config).secure,
    payments: payments.processor,
    lowBalancePico: notices.lowBalancePico,
    version,
    files: fileURLToPath(new URL('../../dashboard/dist', import.meta.url)),
  } satisfies Partial<DashboardDeps>;
}
