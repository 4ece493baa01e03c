/** The receipt of the last answer, or those of several models side by side. */
import { Link } from '@tanstack/react-router';
import { Card } from '../../components/card.js';
import { Facts } from '../../components/facts.js';
import { ModelId } from '../../components/model-id.js';
import { Notice, Skeleton } from '../../components/states.js';
import { unknown } from '../../format/figures.js';
import { type ReceiptRow, receiptRows } from './receipt-facts.js';
import type { Outcome } from './send-request.js';
import type { Lane } from './use-lanes.js';

const cellOf = ({ value, isId, strong }: ReceiptRow) =>
  isId ? <ModelId id={value} /> : strong ? <span className="font-semibold">{value}</span> : value;

/** An answer that was stopped before it began has nothing to show. */
const hasReceipt = (outcome: Outcome | null): outcome is Outcome => outcome?.receipt != null;

export function ReceiptCard({ lane: { outcome, busy } }: { lane: Lane }) {
  const isFailed = outcome?.ending === 'failed';
  return (
    <Card title="Receipt">
      {hasReceipt(outcome) ? (
        <div className="flex flex-col gap-4" data-testid="receipt">
          <Facts facts={receiptRows(outcome).map((row) => ({ name: row.name, value: cellOf(row) }))} />
          <Partial outcome={outcome} />
          <Details outcome={outcome} />
        </div>
      ) : busy ? (
        <div className="flex flex-col gap-2.5">
          <Skeleton className="h-5" />
          <Skeleton className="h-5 w-3/4" />
          <Skeleton className="h-5" />
        </div>
      ) : (
        <p className="text-ink-2">
          {isFailed
            ? 'A request that is refused before a route is tried has no receipt.'
            : 'Appears with the answer: who served it, where, after which attempts, and what it cost.'}
        </p>
      )}
    </Card>
  );
}

const endings = { stopped: 'You stopped this answer.', lost: 'The connection broke.', failed: 'This request failed.' };

function Partial({ outcome: { ending, recovered } }: { outcome: Outcome }) {
  if (ending === 'complete') return null;
  const what = endings[ending];
  return (
    <Notice tone="neutral">
      {recovered
        ? `${what} These figures are from your usage history: what was delivered, and what it cost.`
        : `${what} Looking in your usage history for what was delivered …`}
    </Notice>
  );
}

function Details({ outcome: { generationId } }: { outcome: Outcome }) {
  if (!generationId) return null;
  return (
    <Link
      className="w-fit text-sm font-medium text-accent underline underline-offset-2"
      params={{ id: generationId }}
      to="/usage/$id"
    >
      See all details of this request
    </Link>
  );
}

/** One column for each model. */
export function ReceiptTable({ lanes }: { lanes: readonly Lane[] }) {
  const columns = lanes.map((lane) => ({ lane, rows: hasReceipt(lane.outcome) ? receiptRows(lane.outcome) : [] }));
  const names = [...new Set(columns.flatMap(({ rows }) => rows.map(({ name }) => name)))];
  if (names.length === 0) return null;
  return (
    <Card flush title="Receipts side by side">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls. */}
      <div
        aria-label="Receipts side by side"
        className="scroll-hint overflow-x-auto"
        data-testid="receipts"
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
        tabIndex={0}
      >
        <table className="w-full min-w-lg border-collapse text-sm">
          <thead>
            <tr className="border-b border-line align-bottom">
              <th className="px-5 py-2 text-left font-medium text-ink-3" scope="col">
                Model
              </th>
              {columns.map(({ lane }) => (
                <th className="px-3 py-2 text-left font-medium" key={lane.id} scope="col">
                  <ModelId id={lane.model} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {names.map((name) => (
              <tr className="border-b border-line align-top last:border-0" key={name}>
                <th className="px-5 py-1.5 text-left font-normal whitespace-nowrap text-ink-3" scope="row">
                  {name}
                </th>
                {columns.map(({ lane, rows }) => {
                  const row = rows.find((one) => one.name === name);
                  return (
                    <td className="tabular px-3 py-1.5" key={lane.id}>
                      {row ? cellOf(row) : unknown}
                    </td>
                  );
                })}
              </tr>
            ))}
            <tr>
              <td className="px-5 py-2" />
              {columns.map(({ lane }) => (
                <td className="px-3 py-2" key={lane.id}>
                  {lane.outcome && <Details outcome={lane.outcome} />}
                </td>
              ))}
            </tr>
          </tbody>
        </table>
      </div>
    </Card>
  );
}
