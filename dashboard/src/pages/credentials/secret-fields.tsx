/** The fields of a secret, which depend on the provider. What is typed is sent once and kept nowhere here. */
import type { SecretKind } from '../../api/types.js';
import type { ErrorAt } from '../../components/change-form.js';
import { Input, Textarea } from '../../components/field.js';

interface SecretField {
  name: string;
  label: string;
  hint?: string;
  /** A name, which may be seen. */
  isOpen?: boolean;
  isFile?: boolean;
  isOptional?: boolean;
}

const apiKey: SecretField = { name: 'api_key', label: 'API key', hint: 'Stored encrypted, and never shown again.' };

const fieldsOf: Record<SecretKind, readonly SecretField[]> = {
  api_key: [apiKey],
  azure: [apiKey, { name: 'resource', label: 'Resource', hint: 'Its name, not its address.', isOpen: true }],
  bedrock: [
    { ...apiKey, hint: 'A bearer key. Leave it empty to send an access key.', isOptional: true },
    { name: 'access_key_id', label: 'Access key id', isOpen: true, isOptional: true },
    { name: 'secret_access_key', label: 'Secret access key', isOptional: true },
    { name: 'session_token', label: 'Session token', isOptional: true },
  ],
  vertex: [
    { name: 'service_account', label: 'Service account', hint: 'The content of its JSON file.', isFile: true },
    { name: 'project', label: 'Google project', hint: 'Its id.', isOpen: true },
  ],
};

/** What was typed, by the name of the field. */
export type Typed = Readonly<Record<string, string>>;

export function secretBody(kind: SecretKind, typed: Typed): Record<string, unknown> {
  const sent = fieldsOf[kind].flatMap(({ name, isFile }) => {
    const text = typed[name]?.trim() ?? '';
    return text === '' ? [] : [[name, isFile ? parsed(text) : text] as const];
  });
  return Object.fromEntries(sent);
}

/** Text that is no JSON is sent as it is, and the gateway says what is wrong. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const secretParams = (kind: SecretKind): string[] => [
  ...['secret', 'provider'],
  ...fieldsOf[kind].map(({ name }) => `secret.${name}`),
];

interface SecretFieldsProps {
  kind: SecretKind;
  typed: Typed;
  onChange: (typed: Typed) => void;
  at: ErrorAt;
}

export function SecretFields({ kind, typed, onChange, at }: SecretFieldsProps) {
  return fieldsOf[kind].map(({ name, label, hint, isOpen, isFile, isOptional }, place) => {
    const field = {
      error: at(`secret.${name}`) ?? (place === 0 ? at('secret') : null),
      ...(hint !== undefined && { hint }),
      ...{ label, required: !isOptional, spellCheck: false, value: typed[name] ?? '' },
      onChange: (event: { target: { value: string } }) => onChange({ ...typed, [name]: event.target.value }),
    };
    return isFile ? (
      <Textarea {...field} autoComplete="off" key={name} rows={4} />
    ) : (
      <Input {...field} autoComplete={isOpen ? 'off' : 'new-password'} key={name} type={isOpen ? 'text' : 'password'} />
    );
  });
}
