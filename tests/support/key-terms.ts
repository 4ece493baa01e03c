/** The terms of a key that was created without any, and not used yet, as the APIs show them. */
import { expect } from 'vitest';

export const unrestricted = {
  project: expect.stringMatching(/^proj-/),
  holder: null,
  kind: 'inference',
  disabled: false,
  limit_usd: null,
  limit_reset: 'never',
  allowed_models: null,
  allowed_providers: null,
  allowed_ips: null,
  requests_per_minute: null,
  tokens_per_minute: null,
  usage_usd: '0',
  limit_remaining_usd: null,
  last_used_at: null,
};
