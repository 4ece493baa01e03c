/** The gates that applied to a request: those that it sent itself, as recorded, and those of the account's policy as it is now. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { gatesQuery, policyQuery } from '../../api/queries.js';
import type { Generation } from '../../api/usage-types.js';
import { Facts } from '../facts.js';

const isSet = (value: unknown): boolean => {
  if (value === null || value === undefined || value === false) return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value === 'object' ? Object.values(value).some(isSet) : true;
};

function textOf(value: unknown): string {
  if (value === true) return 'on';
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'object' && value !== null) {
    const parts = Object.entries(value).filter(([, part]) => isSet(part));
    return parts.map(([name, part]) => `${name.replaceAll('_', ' ')} ${textOf(part)}`).join('; ');
  }
  return String(value);
}

interface PolicySectionProps {
  generation: Generation;
  /** False where the reader is not the account, so its policy is not known. */
  isOwn: boolean;
}

export function PolicySection({ generation: { request_policy: sent }, isOwn }: PolicySectionProps) {
  const { data: gates } = useQuery(gatesQuery);
  const { data: policy } = useQuery({ ...policyQuery, enabled: isOwn });
  const titles = new Map(gates?.data.map(({ name, title }) => [name, title]));
  const own = Object.entries(policy ?? {}).filter(([name, value]) => titles.has(name) && isSet(value));
  const asked = Object.entries(sent ?? {}).filter(([, value]) => isSet(value));
  return (
    <div className="flex flex-col gap-4">
      <section>
        <h3 className="mb-1.5 text-sm text-ink-3">Sent with the request</h3>
        {asked.length === 0 ? (
          <p className="text-ink-2">The request had no policy of its own.</p>
        ) : (
          <Facts
            facts={asked.map(([name, value]) => ({
              name: titles.get(name) ?? name.replaceAll('_', ' '),
              value: textOf(value),
            }))}
          />
        )}
      </section>
      {isOwn && (
        <section>
          <h3 className="mb-1.5 text-sm text-ink-3">
            Account policy today ·{' '}
            <Link className="text-accent underline underline-offset-2" to="/routing-policy">
              Routing policy
            </Link>
          </h3>
          {own.length === 0 ? (
            <p className="text-ink-2">No gate is set.</p>
          ) : (
            <Facts
              facts={own.map(([name, value]) => ({
                name: titles.get(name) ?? name.replaceAll('_', ' '),
                value: textOf(value),
              }))}
            />
          )}
        </section>
      )}
    </div>
  );
}
