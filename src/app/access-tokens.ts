/** The admin token and the metrics token in use. A reload replaces them by those of the configuration. */
import type { Logger } from '../base/logger.js';
import type { Config } from '../config/config.js';
import { adminTokenOf } from './admin-token.js';

export class AccessTokens {
  admin: string;
  metrics: string | null;

  /** Throws a ConfigFault where the data directory has no usable admin token. */
  constructor(
    config: Config,
    private readonly logger: Logger,
  ) {
    this.admin = adminTokenOf(config);
    this.metrics = config.metricsToken;
  }

  /** Where the configuration has faults, the tokens stay as they are: an operator who made a mistake is not locked out. */
  take(reread: () => Config): void {
    let admin: string;
    let metrics: string | null;
    try {
      const config = reread();
      admin = adminTokenOf(config);
      metrics = config.metricsToken;
    } catch (error) {
      this.logger.warn({ error: String(error) }, 'the configuration has faults, the tokens in use stay');
      return;
    }
    if (admin !== this.admin)
      this.logger.info({}, 'the admin token has changed; sessions that have shown the old one are over');
    if (metrics !== this.metrics) this.logger.info({}, 'the metrics token has changed');
    this.admin = admin;
    this.metrics = metrics;
  }
}
