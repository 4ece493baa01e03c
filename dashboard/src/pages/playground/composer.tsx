/** The message field: Enter sends, Shift+Enter makes a new line. Pictures travel with the next message. */
import { type FormEvent, useRef, useState } from 'react';
import { Button, IconButton } from '../../components/button.js';
import { Textarea } from '../../components/field.js';
import { CloseIcon, PlusIcon, SendIcon, StopIcon } from '../../components/icons.js';
import { Notice } from '../../components/states.js';
import type { PlaygroundDoor } from './doors/door.js';
import { readPictures } from './pictures.js';
import type { Picture } from './request.js';

export interface ComposerProps {
  door: PlaygroundDoor;
  message: string;
  pictures: readonly Picture[];
  busy: boolean;
  /** Why nothing can be sent now. */
  blocked: string | null;
  onMessage: (message: string) => void;
  onPictures: (pictures: readonly Picture[]) => void;
  onSend: () => void;
  onStop: () => void;
}

export function Composer(props: ComposerProps) {
  const { door, message, pictures, busy, blocked, onMessage, onPictures, onSend, onStop } = props;
  const [fault, setFault] = useState<string | null>(null);
  const files = useRef<HTMLInputElement>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSend();
  };
  const add = async (list: FileList | null) => {
    const { read, fault: refused } = await readPictures(list, pictures);
    setFault(refused);
    onPictures([...pictures, ...read]);
  };
  return (
    <form className="flex flex-col gap-3 border-t border-line p-4" onSubmit={submit}>
      <Textarea
        label={door.input.label}
        onChange={(event) => onMessage(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          onSend();
        }}
        onPaste={(event) => {
          if (door.kind === 'chat' && event.clipboardData.files.length > 0) void add(event.clipboardData.files);
        }}
        placeholder={door.input.placeholder}
        rows={3}
        value={message}
      />
      {pictures.length > 0 && (
        <ul className="flex flex-wrap gap-2">
          {pictures.map((picture) => (
            <li className="relative" key={picture.name}>
              <img alt={picture.name} className="h-16 rounded-md border border-line" src={picture.url} />
              <IconButton
                className="absolute -top-2 -right-2 size-6 border border-line bg-surface"
                icon={CloseIcon}
                label={`Remove ${picture.name}`}
                onClick={() => onPictures(pictures.filter((one) => one !== picture))}
              />
            </li>
          ))}
        </ul>
      )}
      {(fault ?? blocked) && <Notice tone="warn">{fault ?? blocked}</Notice>}
      <div className="flex flex-wrap items-center justify-between gap-3">
        {door.kind === 'chat' && (
          <>
            <input
              accept="image/png,image/jpeg,image/webp,image/gif"
              hidden
              multiple
              onChange={(event) => {
                void add(event.target.files);
                event.target.value = '';
              }}
              ref={files}
              type="file"
            />
            <Button icon={PlusIcon} onClick={() => files.current?.click()} size="small" variant="ghost">
              Add a picture
            </Button>
          </>
        )}
        <p className="text-xs text-ink-3 max-sm:hidden pointer-coarse:hidden">
          Press Enter to send, Shift+Enter for a new line.
        </p>
        <span className="ml-auto flex gap-2">
          {busy && (
            <Button icon={StopIcon} onClick={onStop}>
              Stop
            </Button>
          )}
          <Button busy={busy} icon={SendIcon} type="submit" variant="primary">
            Send
          </Button>
        </span>
      </div>
    </form>
  );
}
