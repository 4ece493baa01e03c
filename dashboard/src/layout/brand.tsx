/** The logo and the name. */
export function Brand() {
  return (
    <span className="inline-flex items-center gap-2.5 text-base font-semibold tracking-tight text-ink">
      <svg aria-hidden="true" className="size-7" viewBox="0 0 32 32">
        <rect className="fill-accent" height="32" rx="8" width="32" />
        <path className="fill-accent-ink" d="M16 5.5 20 16l-4 10.5L12 16z" />
        <path className="fill-accent" d="M16 12.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7Z" />
        <circle className="fill-accent-ink" cx="16" cy="16" r="1.6" />
      </svg>
      Lodestone
    </span>
  );
}
