/** The same figures by model, by API key, by provider and by region. The parts of each add up to the headline. */
import type { Report, ReportGroup } from '../../api/report-types.js';
import { Card } from '../../components/card.js';
import { GroupTable, groupNames } from '../../components/report/group-table.js';
import { EmptyState } from '../../components/states.js';
import { UsageLink, type UsageSearch } from '../../components/usage-link.js';

const shown = 8;
const groups: readonly ReportGroup[] = ['model', 'key', 'provider', 'locode'];

export function Breakdowns({ data, search }: { data: Report; search: UsageSearch }) {
  return (
    <div className="grid items-start gap-5 2xl:grid-cols-2">
      {groups.map((group) => (
        <Breakdown data={data} group={group} key={group} search={search} />
      ))}
    </div>
  );
}

function Breakdown({ data, group, search }: { data: Report; group: ReportGroup; search: UsageSearch }) {
  const members = data.groups[group] ?? [];
  return (
    <Card
      action={
        members.length > shown && (
          <UsageLink className="text-sm font-medium text-accent" search={{ ...search, group }}>
            All {members.filter(({ id }) => id !== null).length}
          </UsageLink>
        )
      }
      flush
      title={`By ${group === 'key' ? 'API key' : groupNames[group].toLowerCase()}`}
    >
      {members.length === 0 ? (
        <EmptyState title="No requests in this period" />
      ) : (
        <GroupTable group={group} limit={shown} members={members} search={search} />
      )}
    </Card>
  );
}
