/** One card a gate, in the order in which the gates count: its setting, and what it leaves. */
import { type ReactNode, useMemo } from 'react';
import type { AllowDeny, Catalogue, GateCount, GateName } from '../../api/types.js';
import { Card } from '../../components/card.js';
import type { Suggestion } from '../../components/combobox.js';
import { Input } from '../../components/field.js';
import { Switch } from '../../components/switch.js';
import { TokenField } from '../../components/token-field.js';
import { plural } from '../../format/figures.js';
import { type Draft, isFigure } from './draft.js';
import { gateOptions, regionValue } from './gate-options.js';

export interface GateCardsProps {
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
  catalogue: Catalogue;
  gates: readonly GateCount[];
  total: number | null;
  /** What the gateway says against the draft, at the field that it names. */
  refused: { param: string | null; message: string } | null;
}

export function GateCards({ draft, onChange, catalogue, gates, total, refused }: GateCardsProps) {
  const options = useMemo(() => gateOptions(catalogue), [catalogue]);
  const at = (gate: GateName) => (refused?.param?.startsWith(gate) ? refused.message : null);
  const count = (gate: GateName) => <GateEffect count={gates.find((one) => one.gate === gate)} total={total} />;
  const lists = (gate: 'providers' | 'creators' | 'regions', read?: (text: string) => string) => (
    <Lists
      error={at(gate)}
      onChange={(value) => onChange({ [gate]: value })}
      options={options[gate]}
      value={draft[gate]}
      {...(read && { read })}
    />
  );
  return (
    <>
      <Card action={count('deny_cloud_act')} title="Jurisdiction">
        <Switch
          checked={draft.deny_cloud_act}
          hint="Removes providers under the US CLOUD Act, and those of which it is not known."
          label="Deny CLOUD Act providers"
          onChange={(checked) => onChange({ deny_cloud_act: checked })}
        />
      </Card>
      <Card
        action={count('max_carbon')}
        description="In gCO₂e/kWh. With a ceiling, routes without a published figure are removed."
        title="Carbon"
      >
        <Ceiling
          error={at('max_carbon')}
          label="Highest grid intensity"
          onChange={(text) => onChange({ max_carbon: text })}
          value={draft.max_carbon}
        />
      </Card>
      <Card
        action={count('max_price')}
        description="In USD per million tokens, of the dearer of input and output. With a ceiling, routes without a price are removed."
        title="Price"
      >
        <Ceiling
          error={at('max_price')}
          label="Highest price"
          onChange={(text) => onChange({ max_price: text })}
          value={draft.max_price}
        />
      </Card>
      <Card action={count('providers')} title="Providers">
        {lists('providers')}
      </Card>
      <Card action={count('creators')} title="Creators">
        {lists('creators')}
      </Card>
      <Card action={count('regions')} description="Countries and locodes" title="Regions">
        {lists('regions', regionValue)}
      </Card>
    </>
  );
}

function GateEffect({ count, total }: { count: GateCount | undefined; total: number | null }): ReactNode {
  if (!count || total === null) return <span className="text-sm text-ink-3">counting …</span>;
  const { active, gate, removes, leaves } = count;
  return (
    <span className="tabular shrink-0 text-right text-sm" data-testid={`gate-${gate}`} role="status">
      {active ? (
        <>
          <span className={leaves === 0 ? 'font-medium text-danger' : 'font-medium text-ink'}>leaves {leaves}</span>
          <span className="text-ink-3"> of {plural(total, 'route')}</span>
          {removes > 0 && <span className="text-ink-3">, removes {removes}</span>}
        </>
      ) : (
        <span className="text-ink-3">off · leaves {leaves}</span>
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
      error={isFigure(value) ? error : 'This is not a figure.'}
      inputMode="decimal"
      label={label}
      onChange={(event) => onChange(event.target.value)}
      placeholder="No ceiling"
      value={value}
    />
  );
}

interface ListsProps {
  value: AllowDeny;
  options: { suggestions: Suggestion[]; show: (value: string) => string };
  error: string | null;
  onChange: (value: AllowDeny) => void;
  read?: (text: string) => string;
}

function Lists({ value, options, error, onChange, read }: ListsProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <TokenField
        {...options}
        error={error}
        label="Only these"
        onChange={(allow) => onChange({ ...value, allow })}
        placeholder={value.allow.length === 0 ? 'Any' : 'Add …'}
        values={value.allow}
        {...(read && { read })}
      />
      <TokenField
        {...options}
        label="Never these"
        onChange={(deny) => onChange({ ...value, deny })}
        placeholder={value.deny.length === 0 ? 'None' : 'Add …'}
        values={value.deny}
        {...(read && { read })}
      />
    </div>
  );
}
