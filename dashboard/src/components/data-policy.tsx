/** What is known about the data of requests, as badges; source and date are shown on hover, by keyboard and by touch. */
import type { DataPolicy } from '../api/types.js';
import { Badge, type Tone } from './badge.js';
import { HoverCard } from './hover-card.js';

interface PolicyFact {
  name: string;
  badge: string;
  tone: Tone;
  /** The whole sentence. */
  text: string;
}

export const unknownText = 'not published';

function fact(name: string, value: boolean | undefined, good: boolean, badges: [yes: string, no: string]): PolicyFact {
  if (value === undefined) return { name, badge: `${name}?`, tone: 'neutral', text: unknownText };
  const isGood = value === good;
  return {
    name,
    badge: value ? badges[0] : badges[1],
    tone: isGood ? 'good' : value === true ? 'warn' : 'neutral',
    text: value ? 'yes' : 'no',
  };
}

/** Training, retention, region and ownership, always in this order. */
function policyFacts(policy: DataPolicy | null): PolicyFact[] {
  const { trains, retention_days: days, in_region: inRegion, eu_owned: euOwned } = policy ?? {};
  return [
    fact('Training', trains, false, ['Trains on data', 'No training']),
    days === undefined
      ? { name: 'Retention', badge: 'Retention?', tone: 'neutral', text: unknownText }
      : {
          name: 'Retention',
          badge: days === 0 ? 'Keeps nothing' : `Keeps ${days} d`,
          tone: days === 0 ? 'good' : 'neutral',
          text: days === 0 ? 'nothing is kept' : `${days} days`,
        },
    fact('In region', inRegion, true, ['In region', 'May leave region']),
    fact('EU-owned', euOwned, true, ['EU-owned', 'Not EU-owned']),
  ];
}

/** Whether anything is known that a promise could be about. */
export const isPublished = (policy: DataPolicy | null): boolean =>
  policyFacts(policy).some(({ text }) => text !== unknownText);

const zeroRetention = {
  default: 'without asking',
  on_request: 'by a setting or on request',
  contract: 'by an agreement',
  no: 'not offered',
} as const;

export function DataPolicyBadges({ policy, of }: { policy: DataPolicy | null; of: string }) {
  const facts = policyFacts(policy);
  const known = facts.filter(({ text }) => text !== unknownText);
  return (
    <HoverCard content={<PolicyDetails policy={policy} />} label={`Data policy of ${of}`}>
      {known.length === 0 ? (
        <Badge>{unknownText}</Badge>
      ) : (
        known.map(({ name, badge, tone }) => (
          <Badge key={name} tone={tone}>
            {badge}
          </Badge>
        ))
      )}
    </HoverCard>
  );
}

function PolicyDetails({ policy }: { policy: DataPolicy | null }) {
  if (!policy) return <p>What happens to the data of paid requests is not published.</p>;
  const { zdr, certifications, source, as_of: date, basis } = policy;
  const rows = [
    ...policyFacts(policy).map(({ name, text }) => [name === 'Training' ? 'Trains on paid requests' : name, text]),
    ...(zdr ? [['Zero retention', zeroRetention[zdr]]] : []),
    ...(certifications?.length ? [['Certifications', certifications.join(', ')]] : []),
  ];
  return (
    <div className="flex flex-col gap-2">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
        {rows.map(([name, text]) => (
          <div className="contents" key={name}>
            <dt className="text-ink-3">{name}</dt>
            <dd className="text-right">{text}</dd>
          </div>
        ))}
      </dl>
      <p className="border-t border-line pt-2 text-xs wrap-anywhere text-ink-3">
        {basis === 'agreement' ? 'Partly by an agreement of the operator. ' : ''}
        {source ? `Source: ${source}` : 'No source is given'}
        {date ? `, as of ${date}.` : '.'}
      </p>
    </div>
  );
}
