/**
 * A table whose columns sort, with one line for each row on a wide screen; on a phone each row is a card. The roles are written out,
 * because a table whose display is changed by CSS loses them.
 */
import type { ReactNode } from 'react';
import { classNames } from './class-names.js';
import { useFirstRows } from './first-rows.js';

export interface SortColumn<Row> {
  header: string;
  /** The name of the order; a column without one does not sort. */
  sort?: string;
  /** Explains the figure. */
  title?: string;
  cell: (row: Row) => ReactNode;
  end?: boolean;
  /** The card's first line on a phone. */
  lead?: boolean;
  /** Hides the column on a phone. */
  wide?: boolean;
  /** Takes the space that is left, and cuts its text where there is too little. */
  grow?: boolean;
  /** Class of the header and the cells. */
  className?: string;
}

export interface Order {
  by: string;
  descending: boolean;
}

export interface SortableTableProps<Row> {
  caption: string;
  columns: readonly SortColumn<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  order: Order;
  onSort: (by: string) => void;
}

export function SortableTable<Row>({ caption, columns, rows, rowKey, order, onSort }: SortableTableProps<Row>) {
  // These tables stand below charts and sums.
  const shown = useFirstRows(rows, true);
  return (
    <div className="scroll-hint overflow-x-auto">
      {/* biome-ignore-start lint/a11y/noRedundantRoles: see above. */}
      {/* biome-ignore-start lint/a11y/useSemanticElements: they are the elements. */}
      <table className="data-table line-table" role="table">
        <caption className="sr-only">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th
                aria-sort={sortOf(column.sort, order)}
                className={classNames(column.end && 'end', column.grow && 'grow', column.className)}
                key={column.header}
                role="columnheader"
                scope="col"
                title={column.title}
              >
                {column.sort === undefined ? (
                  column.header
                ) : (
                  <SortButton
                    column={column.header}
                    end={column.end}
                    onSort={onSort}
                    order={order}
                    sort={column.sort}
                  />
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {shown.map((row) => (
            <tr key={rowKey(row)} role="row">
              {columns.map((column) => (
                <td
                  className={classNames(
                    column.end && 'end',
                    column.lead && 'lead',
                    column.wide && 'wide',
                    column.grow && 'grow',
                    column.className,
                  )}
                  data-label={column.header}
                  key={column.header}
                  role="cell"
                >
                  <div className="min-w-0">{column.cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {/* biome-ignore-end lint/a11y/useSemanticElements: they are the elements. */}
      {/* biome-ignore-end lint/a11y/noRedundantRoles: see above. */}
    </div>
  );
}

function sortOf(sort: string | undefined, { by, descending }: Order): 'ascending' | 'descending' | undefined {
  if (sort !== by) return undefined;
  return descending ? 'descending' : 'ascending';
}

interface SortButtonProps {
  column: string;
  end?: boolean | undefined;
  sort: string;
  order: Order;
  onSort: (by: string) => void;
}

function SortButton({ column, end, sort, order, onSort }: SortButtonProps) {
  const mark = order.by === sort ? (order.descending ? '↓' : '↑') : '';
  return (
    <button
      className={classNames(
        'inline-flex items-center gap-1 rounded-sm align-bottom font-medium hover:text-ink',
        end && 'flex-row-reverse',
      )}
      onClick={() => onSort(sort)}
      type="button"
    >
      {column}
      <span aria-hidden="true" className="w-2 text-ink">
        {mark}
      </span>
    </button>
  );
}
