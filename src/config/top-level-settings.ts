/** The settings that stand in no section of the configuration file. */
import { integerFrom, listOf, oneOf, text, yesOrNo } from '../base/yaml-fields.js';
import { adminToken, adminTokenMin, usdAmount } from './field-types.js';
import { setting } from './setting.js';
import { publicIssuers, workloadIssuer } from './workload-issuers.js';

const thisMachineOnly = '`server.host`, `base_url` and `dashboard_url` are loopback, and no proxy is trusted';

export const topLevel = {
  workers: setting('workers', integerFrom(1, 1024), 1, {
    about: 'Processes. More than one needs `storage.redis_url`.',
  }),
  demo: setting('demo', yesOrNo, true, {
    about: 'Makes a demo account at the first start. Always off with a `storage.database_url`.',
  }),
  registration: setting('registration', oneOf(['open', 'closed']), 'closed', {
    default: '`open` on this machine only, else `closed`',
    about: `Whether people may sign up at the dashboard. The default is \`open\` only while ${thisMachineOnly}.`,
  }),
  welcome_credit_usd: setting('welcomeCreditPico', usdAmount, 0n, {
    default: '`"1.00"` on this machine only, else `"0"`',
    about:
      'Credit for an account that signs up at the dashboard. The default depends on the same conditions as `registration`.',
  }),
  admin_token: setting('adminToken', adminToken, null, {
    default: 'made at the first start, in `data_dir/admin-token`',
    env: 'LODESTONE_ADMIN_TOKEN',
    isSecret: true,
    about: `The token of the admin API, at least ${adminTokenMin} characters.`,
  }),
  metrics_token: setting('metricsToken', adminToken, null, {
    env: 'LODESTONE_METRICS_TOKEN',
    isSecret: true,
    about: `A token that opens \`/metrics\` and nothing else, at least ${adminTokenMin} characters.`,
  }),
  include: setting('include', listOf(text, 'files with providers'), [], {
    about: 'YAML files with more `providers`, as `lodestone import` writes them. A provider stands in one place only.',
  }),
  catalogue: setting('catalogue', listOf(text, 'catalogue files and `builtin`'), ['builtin'], {
    default: '`[builtin]`',
    about: 'YAML files and `builtin`. Entries of later files win.',
  }),
  names: setting('names', listOf(text, 'files of names'), [], {
    about: 'YAML files with [names of your own for models](names.md). Names of later files win.',
  }),
  workload_issuers: setting('workloadIssuers', listOf(workloadIssuer, 'issuers'), publicIssuers, {
    default: 'GitHub Actions, GitLab.com, Google',
    about:
      'The issuers whose tokens projects may [trust](workloads.md): https addresses, or `issuer` with a `jwks_file` where it cannot be reached.',
  }),
};
