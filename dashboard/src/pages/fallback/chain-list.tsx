/** The ordered entries. Buttons move and remove them, focus follows the moved entry, and screen readers hear its new position. */
import { useEffect, useRef, useState } from 'react';
import { IconButton } from '../../components/button.js';
import { CloseIcon, DownIcon, UpIcon } from '../../components/icons.js';
import { ModelId } from '../../components/model-id.js';

interface ChainListProps {
  models: string[];
  onChange: (models: string[]) => void;
  /** Without buttons, for a role that only reads. */
  isFixed: boolean;
}

export function ChainList({ models, onChange, isFixed }: ChainListProps) {
  const [announced, setAnnounced] = useState('');
  const list = useRef<HTMLOListElement>(null);
  /** The button to focus after the next render. */
  const focus = useRef<string | null>(null);
  useEffect(() => {
    if (focus.current === null || models.length === 0) return;
    const wanted = list.current?.querySelector<HTMLButtonElement>(
      `[data-focus="${CSS.escape(focus.current)}"]:enabled`,
    );
    const other = list.current?.querySelector<HTMLButtonElement>(
      `[data-focus="${CSS.escape(focus.current.replace(/^(up|down) /, (way) => (way === 'up ' ? 'down ' : 'up ')))}"]:enabled`,
    );
    (wanted ?? other)?.focus();
    focus.current = null;
  }, [models]);

  const move = (index: number, by: -1 | 1) => {
    const changed = [...models];
    const [moved] = changed.splice(index, 1);
    if (moved === undefined) return;
    changed.splice(index + by, 0, moved);
    focus.current = `${by === -1 ? 'up' : 'down'} ${moved}`;
    setAnnounced(`${moved} is now number ${index + by + 1} of ${models.length}.`);
    onChange(changed);
  };
  const remove = (index: number) => {
    const left = models.filter((_, at) => at !== index);
    const neighbour = left[Math.min(index, left.length - 1)];
    focus.current = neighbour === undefined ? null : `remove ${neighbour}`;
    setAnnounced(`${models[index]} is removed.`);
    onChange(left);
  };

  return (
    <>
      <ol ref={list}>
        {models.map((id, index) => (
          <li className="flex items-center gap-3 border-t border-line py-1.5 pr-3 pl-5 first:border-t-0" key={id}>
            <span aria-hidden="true" className="tabular w-5 shrink-0 text-sm text-ink-3">
              {index + 1}
            </span>
            <span className="min-w-0 grow">
              <ModelId id={id} />
            </span>
            <span className={isFixed ? 'hidden' : 'flex shrink-0'}>
              <IconButton
                data-focus={`up ${id}`}
                disabled={index === 0}
                icon={UpIcon}
                label={`Move ${id} up`}
                onClick={() => move(index, -1)}
              />
              <IconButton
                data-focus={`down ${id}`}
                disabled={index === models.length - 1}
                icon={DownIcon}
                label={`Move ${id} down`}
                onClick={() => move(index, 1)}
              />
              <IconButton
                data-focus={`remove ${id}`}
                icon={CloseIcon}
                label={`Remove ${id}`}
                onClick={() => remove(index)}
              />
            </span>
          </li>
        ))}
      </ol>
      <p className="sr-only" role="status">
        {announced}
      </p>
    </>
  );
}
