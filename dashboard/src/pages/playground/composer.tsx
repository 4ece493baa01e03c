/** The message field: Enter sends, Shift+Enter makes a new line. */
import type { FormEvent } from 'react';
import type { Catalogue } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { Combobox } from '../../components/combobox.js';
import { Textarea } from '../../components/field.js';
import { SendIcon, StopIcon } from '../../components/icons.js';
import { modelSuggestions } from '../models/model-suggestions.js';

export interface ComposerProps {
  model: string;
  message: string;
  busy: boolean;
  catalogue: Catalogue | undefined;
  onModel: (model: string) => void;
  onMessage: (message: string) => void;
  onSend: () => void;
  onStop: () => void;
}

export function Composer({ model, message, busy, catalogue, onModel, onMessage, onSend, onStop }: ComposerProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSend();
  };
  return (
    <form className="flex flex-col gap-3 border-t border-line p-4" onSubmit={submit}>
      <Combobox
        label="Model"
        onChange={onModel}
        placeholder="auto/meta/llama-3.3-70b"
        suggestions={catalogue ? modelSuggestions(catalogue) : []}
        value={model}
      />
      <Textarea
        label="Message"
        onChange={(event) => onMessage(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          onSend();
        }}
        placeholder="Ask something"
        rows={3}
        value={message}
      />
      <div className="flex items-center justify-between gap-3">
        <p className="text-xs text-ink-3 pointer-coarse:hidden">Press Enter to send, Shift+Enter for a new line.</p>
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
