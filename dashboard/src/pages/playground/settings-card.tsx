/** The optional request settings; an empty field is not sent. */
import { Card } from '../../components/card.js';
import { Input, Textarea } from '../../components/field.js';
import { Switch } from '../../components/switch.js';

export interface Knobs {
  system: string;
  temperature: string;
  maxTokens: string;
  stream: boolean;
}

export function readKnobs({ system, temperature, maxTokens, stream }: Knobs) {
  return {
    system,
    stream,
    ...(figure(temperature) !== null && { temperature: figure(temperature) as number }),
    ...(figure(maxTokens) !== null && { max_tokens: figure(maxTokens) as number }),
  };
}

/** Null if the text is empty or not a number; then it is not sent. */
function figure(text: string): number | null {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

export function SettingsCard({ knobs, onChange }: { knobs: Knobs; onChange: (knobs: Knobs) => void }) {
  return (
    <Card title="Settings">
      <div className="flex flex-col gap-4">
        <Switch
          checked={knobs.stream}
          label="Stream the answer"
          onChange={(stream) => onChange({ ...knobs, stream })}
        />
        <Textarea
          label="System prompt"
          onChange={(event) => onChange({ ...knobs, system: event.target.value })}
          placeholder="None"
          rows={2}
          value={knobs.system}
        />
        <div className="grid grid-cols-2 gap-3">
          <Input
            inputMode="decimal"
            label="Temperature"
            onChange={(event) => onChange({ ...knobs, temperature: event.target.value })}
            placeholder="Default"
            value={knobs.temperature}
          />
          <Input
            inputMode="numeric"
            label="Max tokens"
            onChange={(event) => onChange({ ...knobs, maxTokens: event.target.value })}
            placeholder="Default"
            value={knobs.maxTokens}
          />
        </div>
      </div>
    </Card>
  );
}
