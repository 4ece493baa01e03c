/** What a notice says: as JSON for the webhook, and as a mail. */
import { usdText } from '../base/money.js';
import { quoted } from '../base/quoted.js';
import type { BalanceNotice, BudgetNotice, CredentialNotice, Notice, RetirementNotice } from '../domain/notice.js';

export interface NoticeMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

const isBalance = (notice: Notice): notice is BalanceNotice => 'level' in notice;
const isCredential = (notice: Notice): notice is CredentialNotice => 'credentialId' in notice;
const isBudget = (notice: Notice): notice is BudgetNotice => 'threshold' in notice;

export function typeOf(notice: Notice): string {
  if (isBalance(notice)) return `balance.${notice.level}`;
  if (isCredential(notice)) return 'credential.failing';
  return isBudget(notice) ? 'budget.threshold' : 'model.retiring';
}

export function noticeJson(notice: Notice) {
  const { id, createdAt } = notice;
  return { id, type: typeOf(notice), timestamp: new Date(createdAt).toISOString(), data: dataOf(notice) };
}

function dataOf(notice: Notice) {
  if (isBudget(notice)) return budgetJson(notice);
  if (isCredential(notice)) return credentialJson(notice);
  const { accountId, email } = notice;
  return { account_id: accountId, email, ...(isBalance(notice) ? balanceJson(notice) : retirementJson(notice)) };
}

function balanceJson({ balancePico, thresholdPico }: BalanceNotice) {
  return { balance_usd: usdText(balancePico), threshold_usd: usdText(thresholdPico) };
}

function budgetJson({ accountId, projectId, threshold, limitPico, spentPico, period, endsAt }: BudgetNotice) {
  return {
    account: accountId,
    project: projectId,
    threshold,
    limit_usd: usdText(limitPico),
    spent_usd: usdText(spentPico),
    period,
    ends_at: endsAt === null ? null : new Date(endsAt).toISOString(),
  };
}

function credentialJson({ accountId, projectId, credentialId, provider, name, reason }: CredentialNotice) {
  return { account: accountId, project: projectId, credential: credentialId, provider, name, reason };
}

/** A credential fails because its provider refuses it, or because the operator's key that it is sealed with is missing. */
function credentialMail({ provider, name, reason }: CredentialNotice) {
  const credential = `Your credential ${quoted(name)} at ${provider}`;
  return {
    subject: `${credential} is failing`,
    text: `${credential} is failing${reason === null ? '' : `: ${reason}`}
Check it, replace its secret, or delete it. Requests to its models fail meanwhile, or use what you allow beside it.
`,
  };
}

function retirementJson({ model, date, replacedBy, routes, names }: RetirementNotice) {
  return { model, retires: { date, replaced_by: replacedBy }, routes, names };
}

export function mailOf(notice: BalanceNotice | BudgetNotice | CredentialNotice): Omit<NoticeMail, 'to'> {
  if (isCredential(notice)) return credentialMail(notice);
  return isBudget(notice) ? budgetMail(notice) : balanceMail(notice);
}

function balanceMail({ accountId, level, balancePico, thresholdPico }: BalanceNotice) {
  const balance = usdText(balancePico);
  const subject = level === 'low' ? `The balance is low: ${balance} USD` : `The balance is used up: ${balance} USD`;
  const what =
    level === 'low'
      ? `It has fallen below ${usdText(thresholdPico)} USD. Requests are refused once it is used up.`
      : 'Requests are refused until credit is added.';
  return { subject, text: `The balance of the account ${accountId} is ${balance} USD. ${what}\n` };
}

function budgetMail({
  accountId,
  projectId,
  projectName,
  threshold,
  limitPico,
  spentPico,
  period,
  endsAt,
}: BudgetNotice) {
  const node = projectId === null ? `the account ${accountId}` : `the project "${projectName ?? projectId}"`;
  const part = `${Number((threshold * 100).toFixed(6))} %`;
  const ends = endsAt === null ? '' : ` The period ends at ${new Date(endsAt).toISOString()}.`;
  const then =
    spentPico >= limitPico ? ' Requests are refused until the budget is raised or the next period begins.' : '';
  return {
    subject: `${part} of the budget of ${node} is spent`,
    text: `${usdText(spentPico)} USD of the budget of ${usdText(limitPico)} USD (period: ${period}) of ${node} are spent.${ends}${then}\n`,
  };
}
