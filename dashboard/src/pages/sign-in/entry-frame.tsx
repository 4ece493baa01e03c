/** The layout of the pages before sign-in: logo, one card, one sentence below. */
import type { ReactNode } from 'react';
import { useTitle } from '../../components/page-header.js';
import { Brand } from '../../layout/brand.js';

export function EntryFrame({
  title,
  lead,
  children,
  below,
}: {
  title: string;
  lead?: ReactNode;
  children: ReactNode;
  below?: ReactNode;
}) {
  useTitle(title);
  return (
    <main className="flex min-h-dvh flex-col items-center justify-center gap-6 px-4 py-10">
      <Brand />
      <div className="w-full max-w-sm rounded-xl border border-line bg-surface p-6 shadow-card sm:p-7">
        <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
        {lead && <p className="mt-1 text-ink-2">{lead}</p>}
        <div className="mt-5">{children}</div>
      </div>
      {below && <p className="text-center text-ink-2">{below}</p>}
    </main>
  );
}
