/** Edits the policy of the account or of a project. A reset asks first, and can be undone. */
import { useState } from 'react';
import { api, isApiError } from '../../api/client.js';
import { useChange } from '../../api/queries.js';
import type { Catalogue, Gate, RoutingPolicy } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { Select } from '../../components/field.js';
import { SaveBar } from '../../components/save-bar.js';
import { messageOf, Notice } from '../../components/states.js';
import { useToast } from '../../components/toast.js';
import { useLack } from '../../components/why-not.js';
import { type Draft, draftOf, policyOf } from './draft.js';
import { firstModel } from './first-model.js';
import { GateCards } from './gate-cards.js';
import { PreferCard } from './prefer-card.js';
import { PreviewPanel } from './preview-panel.js';
import { usePreview } from './use-preview.js';

export interface PolicyEditorProps {
  saved: RoutingPolicy;
  catalogue: Catalogue;
  gates: readonly Gate[];
  /** Where it is saved. */
  path: string;
  /** What the role needs to change it. */
  right: string;
  stale: readonly (readonly unknown[])[];
  /** The project whose policy it is. */
  project?: string;
}

export function PolicyEditor({ saved, catalogue, gates, path, right, stale, project }: PolicyEditorProps) {
  const savedDraft = draftOf(saved, gates);
  const [draft, setDraft] = useState<Draft>(savedDraft);
  const [model, setModel] = useState(() => firstModel(catalogue));
  const [resetting, setResetting] = useState<RoutingPolicy | null>(null);
  const [undo, setUndo] = useState<RoutingPolicy | null>(null);
  const policy = policyOf(draft);
  const preview = usePreview(model, policy, project);
  const say = useToast();
  const mayNot = useLack(right) !== null;
  const save = useChange((next: RoutingPolicy) => api<RoutingPolicy>(path, { method: 'PUT', body: next }), stale);
  const reset = useChange((_: RoutingPolicy) => api(path, { method: 'DELETE' }), stale);
  const store = (next: RoutingPolicy, text: string) =>
    save.mutate(next, {
      onSuccess: (stored) => {
        setDraft(draftOf(stored, gates));
        setUndo(null);
        say(text);
      },
    });
  const refused = [save.error, preview.error].find(isApiError);
  const isDirty = JSON.stringify(draft) !== JSON.stringify(savedDraft);
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_21rem]">
      <div className="flex min-w-0 flex-col gap-5">
        <Select
          hint="The counts below are for the routes of this model."
          label="Model"
          onChange={(event) => setModel(event.target.value)}
          options={[
            { value: '', label: 'All models' },
            ...catalogue.data.map(({ id, name }) => ({ value: id, label: `${name} (${id})` })),
          ]}
          value={model}
        />
        <GateCards
          catalogue={catalogue}
          counts={preview.data?.gates ?? []}
          draft={draft}
          gates={gates}
          onChange={(gate, setting) => setDraft({ ...draft, settings: { ...draft.settings, [gate]: setting } })}
          refused={refused ? { param: refused.param, message: refused.message } : null}
          total={preview.data ? (preview.data.account_gates?.at(-1)?.leaves ?? preview.data.total) : null}
        />
        <PreferCard
          inherits={project !== undefined}
          onChange={(prefer) => setDraft({ ...draft, prefer })}
          value={draft.prefer}
        />
        {save.isError && <Notice>{messageOf(save.error)}</Notice>}
        {undo && (
          <Notice tone="neutral">
            <span className="flex flex-wrap items-center justify-between gap-3">
              The policy was reset to its defaults.
              <Button busy={save.isPending} onClick={() => store(undo, 'The policy is back.')} size="small">
                Undo
              </Button>
            </span>
          </Notice>
        )}
        {!mayNot && (
          <SaveBar
            busy={save.isPending}
            dirty={isDirty}
            onDiscard={() => setDraft(savedDraft)}
            onSave={() => store(policy, 'Routing policy saved.')}
            saveLabel="Save policy"
          >
            <Button onClick={() => setResetting(saved)} variant="ghost">
              Reset to defaults
            </Button>
          </SaveBar>
        )}
      </div>
      <PreviewPanel catalogue={catalogue} gates={gates} preview={preview} />
      <ConfirmDialog
        action="Reset policy"
        change={reset}
        onClose={() => setResetting(null)}
        onDone={() => {
          setUndo(saved);
          setDraft(draftOf(openPolicy(saved, gates), gates));
        }}
        subject={resetting}
        title="Reset to defaults?"
      >
        Every gate is turned off for the next request. You can undo it as long as you stay on this page.
      </ConfirmDialog>
    </div>
  );
}

/** Without any gate. */
function openPolicy(policy: RoutingPolicy, gates: readonly Gate[]): RoutingPolicy {
  const settings = gates.map(({ name, control: { kind } }) => {
    const open = { switch: false, ceiling: null, choices: [], lists: { allow: [], deny: [] } }[kind];
    return [name, open] as const;
  });
  return { ...policy, ...Object.fromEntries(settings), prefer: policy.prefer === null ? null : 'balanced' };
}
