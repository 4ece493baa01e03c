/** How to add credit: what the gateway says, since payments are its operator's choice. */
import type { Credits } from '../../api/usage-types.js';
import { Card } from '../../components/card.js';

export function TopUp({ topUp }: { topUp: Credits['top_up'] }) {
  return (
    <Card title="Add credit">
      <p className="text-ink-2">{topUp.message}</p>
    </Card>
  );
}
