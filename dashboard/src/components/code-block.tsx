/** Code to copy. */
import { CopyButton } from './copy-button.js';

export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <div className="overflow-hidden rounded-md border border-line bg-sunken">
      <div className="flex items-center justify-between border-b border-line pr-1 pl-3 text-xs text-ink-3">
        {label}
        <CopyButton label={`Copy ${label}`} text={code} />
      </div>
      <section
        aria-label={label}
        className="overflow-x-auto p-3 text-xs leading-5 text-ink focus-visible:-outline-offset-2"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
        tabIndex={0}
      >
        <pre>
          <code>{code}</code>
        </pre>
      </section>
    </div>
  );
}
