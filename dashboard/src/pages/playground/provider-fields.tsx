/** The request's `provider` object: whom to ask first, whom never, and what every route must promise. It only narrows your policy. */
import { useMemo } from 'react';
import type { Catalogue } from '../../api/types.js';
import { CodeBlock } from '../../components/code-block.js';
import { Input, Select } from '../../components/field.js';
import { Switch } from '../../components/switch.js';
import { TokenField } from '../../components/token-field.js';
import { gateOptions } from '../policy/gate-options.js';

type Value = Readonly<Record<string, unknown>>;

export interface ProviderFieldsProps {
  value: Value;
  catalogue: Catalogue | undefined;
  onChange: (value: Value) => void;
}

const sorts = [
  { value: '', label: 'As in your routing policy' },
  { value: 'price', label: 'Price' },
  { value: 'latency', label: 'Latency' },
  { value: 'throughput', label: 'Throughput' },
  { value: 'carbon', label: 'Grid intensity' },
];

const lists = [
  { field: 'order', label: 'Try first, in this order' },
  { field: 'only', label: 'Only these providers' },
  { field: 'ignore', label: 'Never these providers' },
];

const switches = [
  { field: 'data_collection', on: 'deny', label: 'No training on my data' },
  { field: 'zdr', on: true, label: 'Nothing is kept' },
  { field: 'require_in_region', on: true, label: 'Stays in its region' },
  { field: 'require_eu_owned', on: true, label: 'Owned in the EU' },
  { field: 'deny_cloud_act', on: true, label: 'Not under the CLOUD Act' },
  { field: 'allow_fallbacks', on: false, label: 'No fallback to others' },
  { field: 'sticky', on: false, label: 'Do not stay with a route' },
];

const ceilings = [
  { path: ['max_price', 'prompt'], label: 'Highest input price', hint: 'USD / M' },
  { path: ['max_price', 'completion'], label: 'Highest output price', hint: 'USD / M' },
  { path: ['max_carbon'], label: 'Highest grid intensity', hint: 'gCO₂e/kWh' },
  { path: ['max_retention_days'], label: 'Longest retention', hint: 'days' },
];

export function ProviderFields({ value, catalogue, onChange }: ProviderFieldsProps) {
  const options = useMemo(() => (catalogue ? gateOptions(catalogue) : {}), [catalogue]);
  const set = (field: string, setting: unknown) => onChange(withField(value, field, setting));
  const { allow: regions = [] } = (value.regions ?? {}) as { allow?: string[] };
  return (
    <>
      <p className="text-sm text-ink-3">For this request only. It narrows what your routing policy leaves.</p>
      <Select
        label="Rank by"
        onChange={(event) => set('sort', event.target.value)}
        options={sorts}
        value={String(value.sort ?? '')}
      />
      {lists.map(({ field, label }) => (
        <TokenField
          {...options.providers}
          key={field}
          label={label}
          onChange={(ids) => set(field, ids)}
          placeholder="Any"
          suggestions={options.providers?.suggestions ?? []}
          values={(value[field] as string[] | undefined) ?? []}
        />
      ))}
      <TokenField
        {...options.regions}
        label="Only these regions"
        onChange={(allow) => set('regions', allow.length > 0 ? { allow } : undefined)}
        placeholder="Any"
        suggestions={options.regions?.suggestions ?? []}
        values={regions}
      />
      {switches.map(({ field, on, label }) => (
        <Switch
          checked={value[field] === on}
          key={field}
          label={label}
          onChange={(checked) => set(field, checked ? on : undefined)}
        />
      ))}
      <div className="grid grid-cols-2 gap-3">
        {ceilings.map(({ path, label, hint }) => (
          <Ceiling hint={hint} key={label} label={label} onChange={onChange} path={path} value={value} />
        ))}
      </div>
      {Object.keys(value).length > 0 && (
        <CodeBlock code={JSON.stringify(value, null, 2)} label="These preferences as JSON" />
      )}
    </>
  );
}

interface CeilingProps extends Pick<ProviderFieldsProps, 'value' | 'onChange'> {
  label: string;
  hint: string;
  path: readonly string[];
}

function Ceiling({ label, hint, path, value, onChange }: CeilingProps) {
  const [field = '', inner] = path;
  const outer = (value[field] ?? {}) as Record<string, unknown>;
  const current = inner === undefined ? value[field] : outer[inner];
  const set = (text: string) => {
    const number = text.trim() === '' || !Number.isFinite(Number(text)) ? undefined : Number(text);
    onChange(withField(value, field, inner === undefined ? number : withField(outer, inner, number)));
  };
  return (
    <Input
      hint={hint}
      inputMode="decimal"
      label={label}
      min={0}
      onChange={(event) => set(event.target.value)}
      placeholder="No limit"
      step="any"
      type="number"
      value={current === undefined ? '' : String(current)}
    />
  );
}

/** Without the field where its setting asks for nothing. */
function withField(value: Value, field: string, setting: unknown): Value {
  const { [field]: _old, ...others } = value;
  const isEmpty =
    setting === undefined || setting === '' || (typeof setting === 'object' && Object.keys(setting ?? {}).length === 0);
  return isEmpty ? others : { ...others, [field]: setting };
}
