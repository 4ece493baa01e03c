/** A model id on one line. Where the space is too small, its beginning is cut, because its end tells models apart. */
export function ModelName({ id }: { id: string }) {
  const at = id.lastIndexOf('/', id.split('/').length > 3 ? id.lastIndexOf('/') - 1 : undefined) + 1;
  return (
    <span className="flex min-w-0 font-mono text-sm whitespace-nowrap" title={id}>
      <span className="min-w-0 shrink-[999] truncate text-ink-3">{id.slice(0, at)}</span>
      <span className="min-w-0 truncate">{id.slice(at)}</span>
    </span>
  );
}
