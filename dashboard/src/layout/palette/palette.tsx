/** The command palette: finds pages, models, API keys and accounts by their names, and requests by their ids. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { accountsQuery, catalogueQuery, keysQuery } from '../../api/queries.js';
import { requestQuery } from '../../api/report.js';
import { classNames } from '../../components/class-names.js';
import { SearchIcon } from '../../components/icons.js';
import { useSession } from '../session-context.js';
import { type Finding, findingsOf, isRequestId } from './findings.js';

export function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const id = useId();
  const navigate = useNavigate();
  const findings = useFindings(text);
  const chosen = Math.min(at, findings.length - 1);

  useEffect(() => {
    const element = dialog.current;
    const opener = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);

  const open = (finding: Finding | undefined) => {
    if (!finding) return;
    onClose();
    if (finding.href !== undefined) return window.location.assign(finding.href);
    void navigate({ to: finding.to, ...(finding.params && { params: finding.params }), search: finding.search ?? {} });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const move = moves[event.key];
    if (move !== undefined && findings.length > 0) {
      event.preventDefault();
      setAt((chosen + move + findings.length) % findings.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      open(findings[chosen]);
    }
  };

  return createPortal(
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard's way to close is Escape, which the element itself handles.
    <dialog
      aria-label="Search"
      className="animate-rise mx-auto mt-[12dvh] mb-auto max-h-[70dvh] w-[calc(100vw-2rem)] max-w-xl overflow-hidden rounded-xl border border-line bg-surface shadow-pop open:flex open:flex-col"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
      ref={dialog}
    >
      <div className="flex items-center gap-2.5 border-b border-line px-4">
        <SearchIcon className="size-4.5 shrink-0 text-ink-3" />
        <input
          aria-activedescendant={findings.length > 0 ? `${id}-${chosen}` : undefined}
          aria-controls={`${id}-list`}
          aria-expanded={findings.length > 0}
          aria-label="Search pages, settings, models, API keys, the guide and ids of requests"
          autoComplete="off"
          autoFocus
          className="h-12 min-w-0 grow bg-transparent text-base text-ink outline-none"
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
          placeholder="Page, setting, model, API key or id of a request"
          role="combobox"
          spellCheck={false}
          value={text}
        />
        <span aria-hidden="true" className="rounded-sm border border-line px-1 text-xs text-ink-3">
          Esc
        </span>
      </div>
      <Findings at={chosen} findings={findings} id={id} onOpen={open} />
      {findings.length === 0 && (
        <p className="px-4 py-8 text-center text-ink-2" role="status">
          {isRequestId(text) ? 'No request of this account has this id.' : 'Nothing found.'}
        </p>
      )}
    </dialog>,
    document.body,
  );
}

function useFindings(text: string): Finding[] {
  const session = useSession();
  const { operator, docs_url: docsUrl } = session;
  const { data: catalogue } = useQuery(catalogueQuery);
  const { data: keys } = useQuery(keysQuery);
  const { data: accounts } = useQuery({ ...accountsQuery, enabled: operator });
  const wanted = text.trim().toLowerCase();
  const { data: request } = useQuery({ ...requestQuery(wanted), enabled: isRequestId(wanted), retry: false });
  return findingsOf(wanted, {
    reader: session,
    docsUrl,
    models: catalogue?.data ?? [],
    keys: keys ?? [],
    accounts: accounts ?? [],
    request: isRequestId(wanted) ? (request ?? null) : null,
  });
}

interface FindingsProps {
  findings: readonly Finding[];
  at: number;
  id: string;
  onOpen: (finding: Finding) => void;
}

function Findings({ findings, at, id, onOpen }: FindingsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector(`[id="${CSS.escape(id)}-${at}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [at, id]);
  return (
    <div
      aria-label="Found"
      className="overflow-y-auto p-1.5 empty:hidden"
      id={`${id}-list`}
      ref={list}
      role="listbox"
      tabIndex={-1}
    >
      {findings.map((finding, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text field.
        <div
          aria-selected={index === at}
          className={classNames(
            'flex cursor-pointer items-baseline justify-between gap-3 rounded-md px-2.5 py-2',
            index === at && 'bg-sunken',
          )}
          id={`${id}-${index}`}
          key={finding.id}
          onClick={() => onOpen(finding)}
          role="option"
          tabIndex={-1}
        >
          <span className="min-w-0 truncate">{finding.title}</span>
          <span className="shrink-0 text-xs text-ink-3">{finding.kind}</span>
        </div>
      ))}
    </div>
  );
}
