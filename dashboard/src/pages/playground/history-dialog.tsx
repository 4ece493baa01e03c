/** The conversations of this tab, to go back to one of them. */
import { Dialog } from '../../components/dialog.js';
import { count } from '../../format/figures.js';
import { fromNow } from '../../format/time.js';
import { type Kept, titleOf } from './history.js';

export interface HistoryDialogProps {
  open: boolean;
  history: readonly Kept[];
  onClose: () => void;
  onOpen: (kept: Kept) => void;
}

export function HistoryDialog({ open, history, onClose, onOpen }: HistoryDialogProps) {
  return (
    <Dialog
      description="These conversations stay in this browser tab and end with it. The gateway stores no text."
      onClose={onClose}
      open={open}
      title="History of this tab"
    >
      <ul className="flex flex-col gap-1">
        {history.map((kept) => (
          <li key={kept.id}>
            <button
              className="flex w-full flex-col rounded-md px-2.5 py-2 text-left hover:bg-sunken"
              onClick={() => onOpen(kept)}
              type="button"
            >
              <span className="w-full truncate font-medium">{titleOf(kept)}</span>
              <span className="w-full truncate text-sm text-ink-3">
                {kept.lanes.map(({ model }) => model).join(', ')} · {count(kept.lanes[0]?.turns.length)} turns ·{' '}
                {fromNow(kept.at)}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
