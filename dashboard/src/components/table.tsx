/**
 * A table of rows; on a phone each row is a card. The roles are written out, because a table whose display is changed by CSS
 * loses them, and a screen reader would hear loose text.
 */
import type { ReactNode } from 'react';
import { classNames } from './class-names.js';
import { useFirstRows } from './first-rows.js';

export interface Column<Row> {
  /** Empty for a column of buttons: then it is named for screen readers only, by `name`. */
  header: string;
  name?: string;
  cell: (row: Row) => ReactNode;
  /** Aligns the column right, for figures. */
  end?: boolean;
  /** The card's first line on a phone. */
  lead?: boolean;
  /** At the right of the card's first line on a phone. */
  corner?: boolean;
  /** Hides the column on a phone. */
  wide?: boolean;
  /** Class of the header and the cells, for a width. */
  className?: string;
}

export interface TableProps<Row> {
  /** Names the table for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** Stands below other things, so that fewer of its rows are on the first screen. */
  isLow?: boolean;
}

export function Table<Row>({ caption, columns, rows, rowKey, isLow }: TableProps<Row>) {
  const shown = useFirstRows(rows, isLow);
  return (
    <div className="scroll-hint overflow-x-auto">
      {/* biome-ignore-start lint/a11y/noRedundantRoles: see above. */}
      {/* biome-ignore-start lint/a11y/useSemanticElements: they are the elements. */}
      <table className="data-table" role="table">
        <caption className="sr-only">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th
                className={classNames(column.end && 'end', column.className)}
                key={column.header || column.name}
                role="columnheader"
                scope="col"
              >
                {column.header || <span className="sr-only">{column.name}</span>}
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
                    column.corner && 'corner',
                    column.wide && 'wide',
                    column.className,
                  )}
                  data-label={column.header || undefined}
                  key={column.header || column.name}
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
