/** An audit entry as a sentence: who did what to whom. */
import type { AuditLogEntry } from '../../api/usage-types.js';
import { modelStateName } from '../../format/model-state.js';
import { signedUsd, usd } from '../../format/money.js';

/** The parts of a sentence; a part with an account leads to its page. */
export interface Part {
  text: string;
  account?: string;
}

const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

export function actorOf({ actor, actor_name: name }: AuditLogEntry): Part {
  if (actor.startsWith('account:') && actor !== 'account:')
    return { text: name ?? actor.slice(8), account: actor.slice(8) };
  const names: Record<string, string> = {
    operator: 'An operator',
    system: 'Lodestone',
    anonymous: 'Somebody who was not signed in',
  };
  return { text: name ?? names[actor] ?? actor.replace(/^(person|key):/, '') };
}

type Sentence = (entry: AuditLogEntry) => (string | Part)[];

const subject = ({ subject: id, subject_name: name }: AuditLogEntry): Part => ({ text: name ?? id, account: id });
const keyName = ({ subject: id, subject_name: name, details }: AuditLogEntry) =>
  `“${text(details.name ?? name ?? id)}”`;
const projectName = ({ subject: id, subject_name: name, details }: AuditLogEntry) =>
  `“${text(details.name ?? name ?? id)}”`;
/** Rules and trusted workloads are too long for a sentence. */
function projectChanges({ account_id: _, policy, trust, ...rest }: Record<string, unknown>): string {
  const long = [
    ...(policy === undefined ? [] : ['its routing policy']),
    ...(trust === undefined ? [] : ['its trusted workloads']),
  ];
  return [...long, ...(Object.keys(rest).length > 0 ? [changesOf(rest)] : [])].join(', ') || 'nothing';
}

const withoutAccount = ({ account_id: _, ...details }: Record<string, unknown>) => details;

function budgetText({ budget, limit_usd: flat, period: flatPeriod }: Record<string, unknown>): string {
  const { limit_usd: limit = flat, period = flatPeriod } = (budget ?? {}) as Record<string, unknown>;
  if (typeof limit !== 'string') return 'none';
  return `${usd(limit)}${typeof period === 'string' && period !== 'never' ? ` ${period}` : ''}`;
}

const owner = ({ account_id: id, account_name: name }: AuditLogEntry): (string | Part)[] =>
  id === null ? [] : [' of ', { text: name ?? id, account: id }];

const sentences: Record<string, Sentence> = {
  'audit.begin': ({ details }) => [
    `started to seal the audit log in the log of receipts; ${text(details.entries_before)} entries came before`,
  ],
  'account.create': (entry) => ['created the account ', subject(entry)],
  'account.sign_up': () => ['signed up'],
  'account.close': (entry) => [
    'closed the account ',
    subject(entry),
    `; its balance was ${usd(text(entry.details.balance_usd))}`,
  ],
  'account.claim': () => ['claimed the demo account'],
  'account.update': (entry) => ['changed ', subject(entry), ': ', changesOf(entry.details)],
  'account.password': (entry) => ['set the password of ', subject(entry)],
  'account.password_reset_request': (entry) => ['asked for a link that resets the password of ', subject(entry)],
  'account.password_reset_link': (entry) => ['made a link that resets the password of ', subject(entry)],
  'account.password_reset': (entry) => ['reset the password of ', subject(entry), ' with a link'],
  'account.two_factor_on': () => ['turned two-factor sign-in on'],
  'account.two_factor_off': () => ['turned two-factor sign-in off'],
  'account.two_factor_reset': (entry) => ['reset the two-factor sign-in of ', subject(entry)],
  'account.recovery_code': ({ details }) => [`used a recovery code; ${text(details.left)} are left`],
  'account.operator': (entry) => [
    entry.details.operator ? 'made an operator of ' : 'took operator rights from ',
    subject(entry),
  ],
  'account.low_balance': ({ details }) => [`set the low-balance notice to ${usd(text(details.low_balance_usd))}`],
  'session.open': () => ['signed in'],
  'session.end': ({ details }) => [
    details.sessions === 1 ? 'ended a session' : `ended ${text(details.sessions)} sessions`,
  ],
  'session.operator': () => ['showed the admin token and got operator rights for the session'],
  'credits.post': (entry) => [
    `posted ${signedUsd(text(entry.details.amount_usd))} to `,
    subject(entry),
    entry.details.note ? ` (${text(entry.details.note)})` : '',
  ],
  'key.create': (entry) => ['created the API key ', keyName(entry), ...owner(entry)],
  'key.update': (entry) => {
    const { account_id: _, name: __, ...changed } = entry.details;
    return [
      'changed the API key ',
      keyName(entry),
      ...owner(entry),
      ': ',
      changesOf({ ...('name' in entry.details && { name: entry.details.name }), ...changed }),
    ];
  },
  'key.delete': (entry) => ['deleted the API key ', keyName(entry), ...owner(entry)],
  'account.budget': (entry) => ['set the budget of ', subject(entry), ' to ', budgetText(entry.details)],
  'project.create': (entry) => ['created the project ', projectName(entry)],
  'project.update': (entry) => ['changed the project ', projectName(entry), ': ', projectChanges(entry.details)],
  'project.budget': (entry) => [
    'set the budget of the project ',
    projectName(entry),
    ' to ',
    budgetText(entry.details),
  ],
  'project.delete': (entry) => ['deleted the project ', projectName(entry)],
  'member.add': (entry) => ['added ', subject(entry), ` as ${text(entry.details.role)}`],
  'member.update': (entry) => ['changed ', subject(entry), ': ', changesOf(withoutAccount(entry.details))],
  'member.remove': (entry) => ['removed ', subject(entry)],
  'invitation.create': ({ details }) => [`invited ${text(details.email)} as ${text(details.role)}`],
  'invitation.accept': (entry) => [
    'accepted an invitation',
    entry.details.role ? ` as ${text(entry.details.role)}` : '',
  ],
  'invitation.revoke': () => ['revoked an invitation'],
  'person.update': (entry) => ['changed ', subject(entry), ': ', changesOf(entry.details)],
  'person.link': (entry) => ['let ', subject(entry), ` sign in through ${text(entry.details.provider)}`],
  'name.put': (entry) => [`gave a model the name ${entry.subject}`],
  'name.delete': (entry) => [`removed the name ${entry.subject} of a model`],
  'policy.set': () => ['saved a routing policy'],
  'policy.delete': () => ['removed the routing policy'],
  'fallback.set': ({ details }) => [`saved the fallback ${listOf(details.models)}`],
  'fallback.delete': () => ['removed the fallback'],
  'alias.create': ({ details }) => [`created the alias ${text(details.name ?? details.alias ?? '')}`],
  'alias.repoint': ({ details }) => [`changed the alias ${text(details.name ?? details.alias ?? '')}`],
  'alias.delete': ({ details }) => [`deleted the alias ${text(details.name ?? details.alias ?? '')}`],
  'payment.checkout': ({ details }) => [`opened a checkout of ${usd(text(details.amount_usd))}`],
  'payment.credit': (entry) => ['credited a payment to ', subject(entry)],
  'payment.adjust': (entry) => ['adjusted a payment of ', subject(entry)],
  'payment.billing_country': (entry) => ['set the billing country of ', subject(entry), ' from a payment'],
  'model.availability': (entry) => [
    `set ${entry.subject} to ${modelStateName(text(entry.details.state))}`,
    entry.details.reason ? `: ${text(entry.details.reason)}` : '',
  ],
  'hold.lift': (entry) => [`lifted the hold of ${entry.subject}`],
  'catalogue.reload': ({ details }) => [
    `reloaded the catalogue: ${text(details.models)} models, ${text(details.routes)} routes`,
  ],
  'storage.prune': ({ details }) => [`removed the requests of ${text(details.months)} months`],
  'admin.refused': (entry) => [`was refused at ${text(entry.details.path)} from ${entry.subject}`],
};

/** An action without a sentence is shown by its name. */
export function sentenceOf(entry: AuditLogEntry): Part[] {
  const parts = sentences[entry.action]?.(entry) ?? [`${entry.action} `, subject(entry)];
  return parts.map((part) => (typeof part === 'string' ? { text: part } : part)).filter((part) => part.text !== '');
}

/** Where the words of the API say it in another way than the pages. */
const fieldNames: Readonly<Record<string, string>> = {
  ...{ settings_by_keys: 'the right of API keys to change settings', record_end_users: 'the recording of end users' },
  ...{ limit_usd: 'the spend limit', limit_reset: 'the period of the limit', expires_at: 'the expiry' },
  ...{ allowed_ips: 'allowed addresses', low_balance_usd: 'the low-balance notice' },
};

function valueText(value: unknown): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(valueText).join(', ');
  if (typeof value === 'object') {
    return Object.entries(value as object)
      .map(([name, part]) => `${name.replaceAll('_', ' ')} ${valueText(part)}`)
      .join(', ');
  }
  return String(value);
}

function changesOf(details: Record<string, unknown>): string {
  const words = Object.entries(details).map(([name, value]) => {
    if (name === 'disabled') return value === true ? 'now disabled' : 'now enabled';
    return `${fieldNames[name] ?? name.replaceAll('_', ' ')} is now ${valueText(value)}`;
  });
  return words.join(', ') || 'nothing';
}

function listOf(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : text(value);
}
