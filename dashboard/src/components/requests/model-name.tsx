/** A model id on one line. Where the space is too small, its beginning is cut, because its end tells models apart. */
export function ModelName({ id }: { id: string }) {
  const segments = id.split('/').length;
  if (segments < 3) {
    return (
      <span className="block truncate font-mono text-sm" title={id}>
        {id}
      </span>
    );
  }
  const at = id.lastIndexOf('/', segments > 3 ? id.lastIndexOf('/') - 1 : undefined) + 1;
  return (
    <span className="relative block" title={id}>
      <span className="sr-only">{id}</span>
      <span aria-hidden="true" className="flex min-w-0 font-mono text-sm whitespace-nowrap">
        <span className="min-w-4 shrink-[999] truncate text-ink-3">{id.slice(0, at)}</span>
        <span className="min-w-0 truncate">{id.slice(at)}</span>
      </span>
    </span>
  );
}
