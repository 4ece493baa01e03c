/** Shows one card for each gate, from the gate's own description: its setting and how many routes it leaves. */
import { type ReactNode, useMemo } from 'react';
import type { AllowDeny, Catalogue, Gate, GateCount } from '../../api/types.js';
import { Card } from '../../components/card.js';
import { Input } from '../../components/field.js';
import { Switch } from '../../components/switch.js';
import { TokenField } from '../../components/token-field.js';
import { plural } from '../../format/figures.js';
import { type Draft, type DraftSetting, isFigure } from './draft.js';
import { gateOptions, noOptions, type Options } from './gate-options.js';

export interface GateCardsProps {
  gates: readonly Gate[];
  draft: Draft;
  onChange: (gate: string, setting: DraftSetting) => void;
  catalogue: Catalogue;
  counts: readonly GateCount[];
  total: number | null;
  /** The gateway's error about the draft, shown at the field that it names. */
  refused: { param: string | null; message: string } | null;
}

export function GateCards({ gates, draft, onChange, catalogue, counts, total, refused }: GateCardsProps) {
  const options = useMemo(() => gateOptions(catalogue), [catalogue]);
  return gates.map(({ name, title, description, control }) => (
    <Card
      action={<GateEffect count={counts.find(({ gate }) => gate === name)} total={total} />}
      key={name}
      title={title}
      {...(description !== undefined && { description })}
    >
      <GateSetting
        control={control}
        error={refused?.param?.startsWith(name) ? refused.message : null}
        onChange={(setting) => onChange(name, setting)}
        options={options}
        value={draft.settings[name]!}
      />
    </Card>
  ));
}

interface GateSettingProps {
  control: Gate['control'];
  value: DraftSetting;
  options: Record<string, Options>;
  error: string | null;
  onChange: (setting: DraftSetting) => void;
}

function GateSetting({ control, value, options, error, onChange }: GateSettingProps) {
  if (control.kind === 'switch')
    return <Switch checked={value === true} hint={control.hint} label={control.label} onChange={onChange} />;
  if (control.kind === 'ceiling')
    return <Ceiling error={error} label={control.label} onChange={onChange} value={String(value)} />;
  if (control.kind === 'choices') {
    return (
      <TokenField
        {...noOptions}
        error={error}
        label={control.label}
        onChange={onChange}
        placeholder={(value as readonly string[]).length === 0 ? 'Any' : 'Add …'}
        suggestions={control.options.map((option) => ({ value: option }))}
        values={value as string[]}
      />
    );
  }
  return (
    <Lists
      error={error}
      onChange={onChange}
      options={options[control.suggest ?? ''] ?? noOptions}
      value={value as AllowDeny}
    />
  );
}

function GateEffect({ count, total }: { count: GateCount | undefined; total: number | null }): ReactNode {
  if (!count || total === null) return <span className="text-sm text-ink-3">counting …</span>;
  const { active, gate, removes, leaves, on_leaves: onLeaves } = count;
  return (
    <span className="tabular shrink-0 text-right text-sm" data-testid={`gate-${gate}`} role="status">
      {active ? (
        <>
          <span className={leaves === 0 ? 'font-medium text-danger' : 'font-medium text-ink'}>leaves {leaves}</span>
          <span className="text-ink-3"> of {plural(total, 'route')}</span>
          {removes > 0 && <span className="text-ink-3">, removes {removes}</span>}
        </>
      ) : (
        <span className="text-ink-3">Off.{onLeaves !== null && ` Turning it on keeps ${onLeaves} of ${leaves}.`}</span>
      )}
    </span>
  );
}

interface CeilingProps {
  label: string;
  value: string;
  error: string | null;
  onChange: (text: string) => void;
}

function Ceiling({ label, value, error, onChange }: CeilingProps) {
  return (
    <Input
      autoComplete="off"
      className="max-w-xs"
      error={isFigure(value) ? error : 'Enter a number.'}
      inputMode="decimal"
      label={label}
      onChange={(event) => onChange(event.target.value)}
      placeholder="No limit"
      value={value}
    />
  );
}

interface ListsProps {
  value: AllowDeny;
  options: Options;
  error: string | null;
  onChange: (value: AllowDeny) => void;
}

function Lists({ value, options, error, onChange }: ListsProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <TokenField
        {...options}
        error={error}
        label="Only these"
        onChange={(allow) => onChange({ ...value, allow })}
        placeholder={value.allow.length === 0 ? 'Any' : 'Add …'}
        values={value.allow}
      />
      <TokenField
        {...options}
        label="Never these"
        onChange={(deny) => onChange({ ...value, deny })}
        placeholder={value.deny.length === 0 ? 'None' : 'Add …'}
        values={value.deny}
      />
    </div>
  );
}
