/** The Playground page: up to three models side by side, through any client API, with receipts and the same request as code. */
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { catalogueQuery } from '../../api/queries.js';
import type { Catalogue, ModelKind } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { classNames } from '../../components/class-names.js';
import { Select } from '../../components/field.js';
import { PageHeader } from '../../components/page-header.js';
import { SkeletonRows } from '../../components/states.js';
import { useSession } from '../../layout/session-context.js';
import { CodeCard } from './code-card.js';
import { Composer } from './composer.js';
import { chatDoor, doorOfKind, servedDoors } from './doors/index.js';
import { type Kept, keepConversation, readHistory } from './history.js';
import { HistoryDialog } from './history-dialog.js';
import { LaneColumns } from './lane-columns.js';
import { ReceiptCard, ReceiptTable } from './receipts.js';
import type { Picture } from './request.js';
import { noSettings, readSettings, type Settings } from './settings.js';
import { SettingsCard } from './settings-card.js';
import { lanesMax, newLane, useLanes } from './use-lanes.js';

export function Page() {
  const { data: catalogue } = useQuery(catalogueQuery);
  const search = useSearch({ strict: false }) as { model?: string; api?: string };
  return (
    <>
      {catalogue ? (
        <Playground
          catalogue={catalogue}
          // A link from another page starts anew.
          key={`${search.model} ${search.api}`}
          wanted={search}
        />
      ) : (
        <>
          <PageHeader title="Playground" />
          <Card flush>
            <SkeletonRows rows={8} />
          </Card>
        </>
      )}
    </>
  );
}

/** Receipt and settings beside the conversation. Several conversations need the width of a laptop for themselves. */
const beside = {
  one: 'lg:grid-cols-[minmax(0,1fr)_21rem] lg:grid-rows-[auto_1fr]',
  many: 'xl:grid-cols-[minmax(0,1fr)_21rem]',
};

const newConversationId = () => `${Date.now()}-${Math.random().toString(36).slice(2)}`;

function Playground({ catalogue, wanted }: { catalogue: Catalogue; wanted: { model?: string; api?: string } }) {
  const { account } = useSession();
  const doors = servedDoors(catalogue);
  const [doorName, setDoorName] = useState(() => firstDoor(catalogue, wanted));
  const door = doors.find(({ name }) => name === doorName) ?? doors[0] ?? chatDoor;
  const { lanes, busy, waits, ...actions } = useLanes([newLane(wanted.model ?? firstModel(catalogue, door.kind))]);
  const [draft, setDraft] = useState('');
  const [pictures, setPictures] = useState<readonly Picture[]>([]);
  const [settings, setSettings] = useState<Settings>(noSettings);
  const prepared = readSettings(settings);
  const [conversation, setConversation] = useState(newConversationId);
  const [history, setHistory] = useState<Kept[]>(() => readHistory(account.id));
  const [showsHistory, setShowsHistory] = useState(false);
  const many = lanes.length > 1;
  const hasTurns = lanes.some(({ turns }) => turns.length > 0);

  useEffect(() => {
    if (busy || !hasTurns) return;
    const kept = lanes.map(({ model, turns }) => ({ model, turns }));
    const entry = { id: conversation, at: new Date().toISOString(), door: door.name, lanes: kept };
    setHistory(keepConversation(account.id, entry));
  }, [busy, hasTurns, lanes, conversation, door.name, account.id]);

  const send = () => {
    const isEmpty = draft.trim() === '' && pictures.length === 0;
    if (isEmpty || busy || waits) return;
    actions.send(door, prepared, { text: draft, pictures });
    setDraft('');
    setPictures([]);
  };
  const chooseDoor = (name: string) => {
    const next = doors.find((one) => one.name === name) ?? chatDoor;
    setDoorName(name);
    // Models of another kind cannot be asked here, and their answers cannot be repeated.
    if (next.kind !== door.kind) startOver([newLane(firstModel(catalogue, next.kind))]);
  };
  const startOver = (next = lanes.map(({ model }) => newLane(model))) => {
    actions.replace(next);
    setConversation(newConversationId());
  };
  const open = (kept: Kept) => {
    actions.stop();
    setDoorName(kept.door);
    actions.replace(kept.lanes.map(({ model, turns }) => newLane(model, turns)));
    setConversation(kept.id);
    setShowsHistory(false);
  };
  return (
    <>
      <PageHeader
        actions={
          <>
            {history.length > 0 && (
              <Button onClick={() => setShowsHistory(true)} variant="ghost">
                {`History (${history.length})`}
              </Button>
            )}
            {hasTurns && (
              <Button disabled={busy} onClick={() => startOver()} variant="ghost">
                Start over
              </Button>
            )}
            {lanes.length < lanesMax && (
              <Button disabled={busy} onClick={() => actions.add(nextModel(catalogue, door.kind, lanes))}>
                Add model
              </Button>
            )}
            <Select
              className="w-44"
              hideLabel
              label="API"
              onChange={(event) => chooseDoor(event.target.value)}
              options={doors.map(({ name, label }) => ({ value: name, label }))}
              value={door.name}
            />
          </>
        }
        description="Requests from here are checked, routed and billed like those of your programs."
        title="Playground"
      />
      <div className={classNames('grid items-start gap-5', many ? beside.many : beside.one)}>
        <Card className="flex min-w-0 flex-col" flush>
          <LaneColumns actions={actions} catalogue={catalogue} door={door} lanes={lanes} prepared={prepared} />
          <Composer
            blocked={waits && !busy ? 'Enter the results of the tools and send them first.' : null}
            busy={busy}
            door={door}
            message={draft}
            onMessage={setDraft}
            onPictures={setPictures}
            onSend={send}
            onStop={actions.stop}
            pictures={pictures}
          />
        </Card>
        <div className={classNames('flex min-w-0 flex-col gap-5', !many && 'lg:row-span-2')}>
          {!many && lanes[0] && <ReceiptCard lane={lanes[0]} />}
          <SettingsCard catalogue={catalogue} door={door} onChange={setSettings} settings={settings} />
        </div>
        {/* Below one conversation, because receipt and settings are longer than it; below all of several, which need the width. */}
        <div className={classNames('flex min-w-0 flex-col gap-5', many && 'xl:col-span-full')}>
          {many && <ReceiptTable lanes={lanes} />}
          <CodeCard door={door} draft={{ text: draft, pictures }} lanes={lanes} prepared={prepared} />
        </div>
      </div>
      <HistoryDialog history={history} onClose={() => setShowsHistory(false)} onOpen={open} open={showsHistory} />
    </>
  );
}

/** The API that the address names, else the one of the model's kind. */
function firstDoor({ data }: Catalogue, { model = '', api }: { model?: string; api?: string }): string {
  const kind = data.find(({ id, routes }) => model.endsWith(id) || routes.some((route) => route.id === model))?.kind;
  return api ?? doorOfKind(kind ?? 'chat').name;
}

/** The free sandbox if it is available, so that a first message costs nothing; otherwise the first model. */
function firstModel({ data }: Catalogue, kind: ModelKind): string {
  const ofKind = data.filter((model) => model.kind === kind);
  const free = ofKind
    .flatMap(({ routes }) => routes)
    .find(({ id, servable }) => servable && (id.startsWith('sandbox/lodestone/echo') || kind !== 'chat'));
  return free?.id ?? ofKind.find(({ servable }) => servable)?.auto_id ?? '';
}

/** A model that is not compared yet. */
function nextModel({ data }: Catalogue, kind: ModelKind, lanes: readonly { model: string }[]): string {
  const isUsed = (id: string) => lanes.some(({ model }) => model.includes(id));
  return data.find((model) => model.kind === kind && model.servable && !isUsed(model.id))?.auto_id ?? '';
}
