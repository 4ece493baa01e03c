/** Loads the next page of a list. */
import { Button } from './button.js';

interface Paged {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => unknown;
}

export function MoreButton({ pages }: { pages: Paged }) {
  if (!pages.hasNextPage) return null;
  return (
    <div className="flex justify-center border-t border-line p-3">
      <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()} variant="ghost">
        Show more
      </Button>
    </div>
  );
}
