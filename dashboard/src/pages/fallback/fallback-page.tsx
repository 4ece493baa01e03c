/** The Fallback page: the models to try, in order, if the requested model fails. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, isApiError } from '../../api/client.js';
import { catalogueQuery, fallbackQuery, useChange } from '../../api/queries.js';
import type { Catalogue } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { Combobox } from '../../components/combobox.js';
import { FallbackIcon } from '../../components/icons.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { SaveBar } from '../../components/save-bar.js';
import { EmptyState, messageOf, Notice } from '../../components/states.js';
import { useToast } from '../../components/toast.js';
import { ReadOnlyNotice, useLack } from '../../components/why-not.js';
import { modelSuggestions } from '../models/model-suggestions.js';
import { ChainList } from './chain-list.js';

const entriesMax = 10;

export function Page() {
  const saved = useQuery(fallbackQuery);
  return (
    <>
      <PageHeader
        description="If the model of a request fails with a 503 or 504, Lodestone tries these in order. A request that brings its own list ignores this one."
        title="Fallback"
      />
      <ReadOnlyNotice right="settings.change" />
      <PageData query={saved}>{(models) => <Chain key={models.join('\n')} saved={models} />}</PageData>
    </>
  );
}

function Chain({ saved }: { saved: string[] }) {
  const [models, setModels] = useState(saved);
  const say = useToast();
  const mayNot = useLack('settings.change') !== null;
  const save = useChange(
    (list: string[]) =>
      list.length === 0
        ? api('v1/fallback', { method: 'DELETE' })
        : api('v1/fallback', { method: 'PUT', body: { fallback: { models: list } } }),
    [['fallback']],
  );
  const change = (list: string[]) => {
    save.reset();
    setModels(list);
  };
  return (
    <div className="flex flex-col gap-5">
      <Card
        action={<span className="tabular text-sm text-ink-3">{`${models.length} of ${entriesMax}`}</span>}
        flush
        title="Chain"
      >
        {models.length === 0 ? (
          <EmptyState icon={FallbackIcon} title="No fallback">
            Add models to try when a request fails.
          </EmptyState>
        ) : (
          <ChainList isFixed={mayNot} models={models} onChange={change} />
        )}
        {mayNot || (
          <AddEntry full={models.length >= entriesMax} models={models} onAdd={(id) => change([...models, id])} />
        )}
      </Card>
      {save.isError && (
        <Notice>
          {messageOf(save.error)}
          {isApiError(save.error) &&
            save.error.code === 'invalid_fallback_model' &&
            ' Remove that entry or choose another.'}
        </Notice>
      )}
      {mayNot || (
        <SaveBar
          busy={save.isPending}
          dirty={models.join('\n') !== saved.join('\n')}
          onDiscard={() => change(saved)}
          onSave={() => save.mutate(models, { onSuccess: () => say('Fallback chain saved.') })}
          saveLabel="Save chain"
        />
      )}
    </div>
  );
}

function AddEntry({ models, full, onAdd }: { models: string[]; full: boolean; onAdd: (id: string) => void }) {
  const [id, setId] = useState('');
  const [refused, setRefused] = useState<string | null>(null);
  const { data: catalogue } = useQuery(catalogueQuery);
  const entry = id.trim();
  const twice = models.includes(entry);
  const suggestions = catalogue ? modelSuggestions(catalogue).filter(({ value }) => !models.includes(value)) : [];
  const isUnknown = refused !== null && refused === entry;
  const add = () => {
    if (!entry || twice || full) return;
    if (catalogue && !isKnown(entry, catalogue)) return setRefused(entry);
    onAdd(entry);
    setId('');
  };
  return (
    <div className="flex items-start gap-2 border-t border-line px-5 py-4">
      <Combobox
        className="grow"
        error={
          twice
            ? 'This model is already in the chain.'
            : full
              ? `A chain has at most ${entriesMax} entries.`
              : isUnknown
                ? `This gateway has no model “${entry}”. Choose one from the list.`
                : null
        }
        hideLabel
        label="Entry to add"
        onChange={setId}
        onEnter={add}
        placeholder={suggestions[0]?.value ?? 'Model'}
        suggestions={suggestions}
        value={id}
      />
      <Button className="pointer-coarse:h-11" disabled={!entry || twice || full} onClick={add}>
        Add
      </Button>
    </div>
  );
}

/** Any model, route or alias, also one that cannot be served now. */
function isKnown(entry: string, { data, aliases }: Catalogue): boolean {
  return (
    aliases.some(({ name }) => `alias/${name}` === entry) ||
    data.some(({ auto_id: auto, routes }) => auto === entry || routes.some(({ id }) => id === entry))
  );
}
