/** The Routing policy page: each gate with the number of routes that it leaves of a chosen model, updated before you save. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, isApiError } from '../../api/client.js';
import { catalogueQuery, gatesQuery, policyQuery, useChange } from '../../api/queries.js';
import type { Catalogue, Gate, RoutingPolicy } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { Select } from '../../components/field.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { SaveBar } from '../../components/save-bar.js';
import { messageOf, Notice, SkeletonRows } from '../../components/states.js';
import { useToast } from '../../components/toast.js';
import { type Draft, draftOf, policyOf } from './draft.js';
import { GateCards } from './gate-cards.js';
import { PreferCard } from './prefer-card.js';
import { PreviewPanel } from './preview-panel.js';
import { usePreview } from './use-preview.js';

export function Page() {
  const policy = useQuery(policyQuery);
  const catalogue = useQuery(catalogueQuery);
  const gates = useQuery(gatesQuery);
  const skeleton = (
    <Card flush>
      <SkeletonRows rows={8} />
    </Card>
  );
  return (
    <>
      <PageHeader
        description="Gates decide which routes an auto id may use. They never affect a pinned route."
        title="Routing policy"
      />
      <PageData query={policy} skeleton={skeleton}>
        {(saved) => (
          <PageData query={catalogue} skeleton={skeleton}>
            {(data) => (
              <PageData query={gates} skeleton={skeleton}>
                {({ data: list }) => (
                  <PolicyEditor catalogue={data} gates={list} key={JSON.stringify(saved)} saved={saved} />
                )}
              </PageData>
            )}
          </PageData>
        )}
      </PageData>
    </>
  );
}

interface PolicyEditorProps {
  saved: RoutingPolicy;
  catalogue: Catalogue;
  gates: readonly Gate[];
}

function PolicyEditor({ saved, catalogue, gates }: PolicyEditorProps) {
  const savedDraft = draftOf(saved, gates);
  const [draft, setDraft] = useState<Draft>(savedDraft);
  const [model, setModel] = useState(() => mostRoutes(catalogue));
  const policy = policyOf(draft);
  const preview = usePreview(model, policy);
  const say = useToast();
  const save = useChange(
    (next: RoutingPolicy | null) =>
      next === null
        ? api('v1/routing-policy', { method: 'DELETE' })
        : api('v1/routing-policy', { method: 'PUT', body: next }),
    [['policy']],
  );
  const refused = [save.error, preview.error].find(isApiError);
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
          total={preview.data?.total ?? null}
        />
        <PreferCard onChange={(prefer) => setDraft({ ...draft, prefer })} value={draft.prefer} />
        {save.isError && <Notice>{messageOf(save.error)}</Notice>}
        <SaveBar
          busy={save.isPending}
          dirty={JSON.stringify(draft) !== JSON.stringify(savedDraft)}
          onDiscard={() => setDraft(savedDraft)}
          onSave={() => save.mutate(policy, { onSuccess: () => say('Routing policy saved.') })}
          saveLabel="Save policy"
        >
          <Button
            onClick={() => save.mutate(null, { onSuccess: () => say('Routing policy reset to its defaults.') })}
            variant="ghost"
          >
            Reset to defaults
          </Button>
        </SaveBar>
      </div>
      <PreviewPanel catalogue={catalogue} gates={gates} preview={preview} />
    </div>
  );
}

/** The model with the most routes. */
function mostRoutes({ data }: Catalogue): string {
  return [...data].sort((a, b) => b.routes.length - a.routes.length)[0]?.id ?? '';
}
