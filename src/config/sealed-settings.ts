/** The settings of what is sealed: the log of receipts, and credentials of customers at providers with what their use costs. */
import { listOf, text, yesOrNo } from '../base/yaml-fields.js';
import { logOrigin, percentage, usdAmount } from './field-types.js';
import { type Settings, setting } from './setting.js';

export const sealedSections = {
  proof: {
    enabled: setting('enabled', yesOrNo, true, {
      about: 'Whether receipts go into a signed log that anybody can check ([receipts](check-receipts.md)).',
    }),
    origin: setting('origin', logOrigin, null, {
      default: 'host of `server.base_url` + `/log`',
      about: 'The name of the log. It is fixed with the first receipt.',
    }),
    key_file: setting('keyFile', text, null, {
      default: '`data_dir/log-key`, made at the first start',
      isPath: true,
      about: 'The key that signs the log. A file that is named here is never made: without it nothing is sealed.',
    }),
    hash_bodies: setting('hashBodies', yesOrNo, true, {
      about: 'Whether receipts have the SHA-256 of the request and of the answer. The text itself is never stored.',
    }),
  },
  secrets: {
    key_file: setting('keyFile', text, null, {
      default: '`data_dir/secrets.key`, made with the embedded store',
      isPath: true,
      about:
        'The key that [credentials of customers](stored-secrets.md) are sealed with: 32 bytes in base64 on one line, mode 0600. With a `storage.database_url` it must be given.',
    }),
    previous_key_files: setting('previousKeyFiles', listOf(text, 'key files'), [], {
      isPath: true,
      about: 'Earlier keys, while credentials are sealed with them. `lodestone secrets rotate` needs none here.',
    }),
  },
  own_keys: {
    fee_percent: setting('feePercent', percentage, 0n, {
      default: '`"0"`',
      about:
        'What an answer costs that [a customer’s own credential](own-keys.md) has paid for, in percent of the list price, as text.',
    }),
    fee_per_request_usd: setting('feePerRequestPico', usdAmount, 0n, {
      default: '`"0"`',
      about: 'What each such answer costs besides, as text.',
    }),
  },
} satisfies Record<string, Settings>;
