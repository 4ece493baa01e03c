/** The settings of the configuration that the dashboard shows or follows. */
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/config.js';
import { dashboardOrigin } from './addresses.js';

export function dashboardSettings(config: Config) {
  const { registration, welcomeCreditPico, payments, notices, server } = config;
  return {
    ...{ registration, welcomeCreditPico, payments: payments.processor, lowBalancePico: notices.lowBalancePico },
    displayCurrency: config.billing.displayCurrency,
    configured: { baseUrl: server.baseUrl, dashboardUrl: server.dashboardUrl },
    operatorsNeedTwoFactor: config.signIn.requireTwoFactorForOperators,
    secure: dashboardOrigin(config).secure,
    files: fileURLToPath(new URL('../../dashboard/dist', import.meta.url)),
  };
}
