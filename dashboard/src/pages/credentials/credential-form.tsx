/** The fields that the dialogs of the Credentials page share. */
import type { CredentialUse } from '../../api/credentials.js';
import type { ErrorAt } from '../../components/change-form.js';
import { Input, Select, Textarea } from '../../components/field.js';

export const textsOfUse: Record<CredentialUse, { label: string; hint: string }> = {
  only: { label: 'Only this', hint: 'Nothing else is used for the models that it covers.' },
  first: { label: 'First', hint: 'The service’s own is used after the provider refuses or limits this one.' },
  last: { label: 'Last', hint: 'It is used after the service’s own could not serve.' },
};

export interface UseFields {
  name: string;
  use: CredentialUse;
  /** One a line; empty for all models. */
  models: string;
}

export function bodyOf({ name, use, models }: UseFields) {
  const list = models.split(/[\s,]+/).filter((entry) => entry !== '');
  return { name: name.trim(), use, models: list.length === 0 ? null : list };
}

/** Of entries of the list too: `models[2]`. */
export const formParams = [
  ...['name', 'use', 'models'],
  ...Array.from({ length: 200 }, (_, place) => `models[${place}]`),
];

interface UseFieldsProps {
  at: ErrorAt;
  fields: UseFields;
  onChange: (fields: UseFields) => void;
}

export function NameField({ at, fields, onChange }: UseFieldsProps) {
  return (
    <Input
      autoComplete="off"
      autoFocus
      error={at('name')}
      hint="Shown in messages and receipts."
      label="Name"
      maxLength={100}
      onChange={(event) => onChange({ ...fields, name: event.target.value })}
      placeholder="our OpenAI key"
      required
      value={fields.name}
    />
  );
}

export function UseAndModels({ at, fields, onChange }: UseFieldsProps) {
  return (
    <>
      <Select
        error={at('use')}
        hint={textsOfUse[fields.use].hint}
        label="Use"
        onChange={(event) => onChange({ ...fields, use: event.target.value as CredentialUse })}
        options={Object.entries(textsOfUse).map(([value, { label }]) => ({ value, label }))}
        value={fields.use}
      />
      <Textarea
        autoCapitalize="off"
        error={formParams.slice(2).map(at).find(Boolean) ?? null}
        hint="Such as openai/gpt-5 or openai/*, one on each line. Leave it empty for all models of the provider."
        label="Models"
        onChange={(event) => onChange({ ...fields, models: event.target.value })}
        rows={2}
        spellCheck={false}
        value={fields.models}
      />
    </>
  );
}
