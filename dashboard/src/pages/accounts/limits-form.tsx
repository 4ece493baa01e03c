/** The limits per minute of an account; an empty field means the gateway's default. */
import { type FormEvent, useState } from 'react';
import type { OperatorAccount } from '../../api/usage-types.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { Input } from '../../components/field.js';

type Limits = OperatorAccount['limits'];

export function LimitsForm({
  account: { limits },
  onSave,
}: {
  account: OperatorAccount;
  onSave: (limits: Limits) => void;
}) {
  const [requests, setRequests] = useState(limits.requests_per_minute?.toString() ?? '');
  const [tokens, setTokens] = useState(limits.tokens_per_minute?.toString() ?? '');
  const valid = [requests, tokens].every((text) => /^\d*$/.test(text.trim()));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (valid) onSave({ requests_per_minute: figure(requests), tokens_per_minute: figure(tokens) });
  };
  return (
    <Card description="Per API key of this account. Leave empty for the default." title="Limits">
      <form
        className="grid items-end gap-3 sm:grid-cols-[12rem_12rem_auto] sm:justify-start"
        noValidate
        onSubmit={submit}
      >
        <Input
          inputMode="numeric"
          label="Requests per minute"
          onChange={(event) => setRequests(event.target.value)}
          placeholder="Default"
          value={requests}
        />
        <Input
          inputMode="numeric"
          label="Tokens per minute"
          onChange={(event) => setTokens(event.target.value)}
          placeholder="Default"
          value={tokens}
        />
        <Button disabled={!valid} type="submit">
          Save limits
        </Button>
      </form>
    </Card>
  );
}

const figure = (text: string) => (text.trim() === '' ? null : Number(text));
