/** The optional settings of a request, in sections that open on demand; an empty field is not sent. */
import type { ReactNode } from 'react';
import type { Catalogue } from '../../api/types.js';
import { Badge } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { Input, Textarea } from '../../components/field.js';
import { SelectIcon } from '../../components/icons.js';
import { Switch } from '../../components/switch.js';
import type { PlaygroundDoor } from './doors/door.js';
import { ProviderFields } from './provider-fields.js';
import { exampleTools, isNumber, readTools, type Settings } from './settings.js';

export interface SettingsCardProps {
  door: PlaygroundDoor;
  settings: Settings;
  catalogue: Catalogue | undefined;
  onChange: (settings: Settings) => void;
}

export function SettingsCard({ door, settings, catalogue, onChange }: SettingsCardProps) {
  const set = (change: Partial<Settings>) => onChange({ ...settings, ...change });
  const tools = readTools(settings.tools);
  const isChat = door.kind === 'chat';
  return (
    <Card title="Settings">
      <div className="flex flex-col gap-4">
        {isChat && (
          <>
            <Switch checked={settings.stream} label="Stream the answer" onChange={(stream) => set({ stream })} />
            <Textarea
              label="System prompt"
              onChange={(event) => set({ system: event.target.value })}
              placeholder="None"
              rows={2}
              value={settings.system}
            />
            <ParameterFields door={door} set={set} settings={settings} />
            <Section count={typeof tools === 'string' ? 0 : tools.length} title="Tools">
              <Textarea
                action={
                  settings.tools === '' && (
                    <Button onClick={() => set({ tools: exampleTools })} size="small" variant="ghost">
                      Insert an example
                    </Button>
                  )
                }
                error={typeof tools === 'string' ? tools : null}
                hint="A JSON list of functions with name, description and parameters. You answer the calls yourself."
                label="Functions"
                onChange={(event) => set({ tools: event.target.value })}
                rows={settings.tools === '' ? 2 : 8}
                spellCheck={false}
                value={settings.tools}
              />
            </Section>
          </>
        )}
        {door.kind === 'rerank' && (
          <Textarea
            hint="One on each line."
            label="Documents"
            onChange={(event) => set({ documents: event.target.value })}
            rows={6}
            value={settings.documents}
          />
        )}
        <Section count={Object.keys(settings.provider).length} title="Provider preferences">
          <ProviderFields catalogue={catalogue} onChange={(provider) => set({ provider })} value={settings.provider} />
        </Section>
      </div>
    </Card>
  );
}

interface ParameterFieldsProps {
  door: PlaygroundDoor;
  settings: Settings;
  set: (change: Partial<Settings>) => void;
}

/** Parameters that an API does not have are not offered at it. */
const absent: Record<string, readonly (keyof Settings)[]> = { messages: ['seed'], responses: ['seed', 'stop'] };

function ParameterFields({ door, settings, set }: ParameterFieldsProps) {
  const number = (name: 'temperature' | 'topP' | 'maxTokens' | 'seed', label: string) =>
    !absent[door.name]?.includes(name) && (
      <Input
        error={settings[name].trim() === '' || isNumber(settings[name]) ? null : 'Enter a number.'}
        inputMode="decimal"
        label={label}
        onChange={(event) => set({ [name]: event.target.value })}
        placeholder="Default"
        value={settings[name]}
      />
    );
  return (
    <>
      <div className="grid grid-cols-2 gap-3">
        {number('temperature', 'Temperature')}
        {number('maxTokens', 'Max tokens')}
        {number('topP', 'Top P')}
        {number('seed', 'Seed')}
      </div>
      {!absent[door.name]?.includes('stop') && (
        <Textarea
          hint="One on each line."
          label="Stop sequences"
          onChange={(event) => set({ stop: event.target.value })}
          placeholder="None"
          rows={1}
          value={settings.stop}
        />
      )}
    </>
  );
}

function Section({ title, count, children }: { title: string; count: number; children: ReactNode }) {
  return (
    <details className="group border-t border-line pt-3">
      <summary className="flex cursor-pointer items-center justify-between text-sm font-medium text-ink-2 hover:text-ink">
        <span className="flex items-center gap-1.5">
          <SelectIcon className="size-4 -rotate-90 text-ink-3 group-open:rotate-0" />
          {title}
        </span>
        {count > 0 ? <Badge tone="accent">{count} set</Badge> : <span className="font-normal text-ink-3">none</span>}
      </summary>
      <div className="mt-3 flex flex-col gap-4">{children}</div>
    </details>
  );
}
