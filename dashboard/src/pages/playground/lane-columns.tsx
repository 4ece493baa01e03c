/** One column for each model, each with its own conversation. */
import type { Catalogue } from '../../api/types.js';
import { IconButton } from '../../components/button.js';
import { classNames } from '../../components/class-names.js';
import { CloseIcon, PlaygroundIcon } from '../../components/icons.js';
import { EmptyState } from '../../components/states.js';
import { milliseconds } from '../../format/figures.js';
import { usd } from '../../format/money.js';
import { ModelPicker } from '../models/model-picker.js';
import { Conversation } from './conversation.js';
import type { PlaygroundDoor } from './doors/door.js';
import type { Lane, Prepared, useLanes } from './use-lanes.js';

export interface LaneColumnsProps {
  lanes: readonly Lane[];
  door: PlaygroundDoor;
  prepared: Prepared;
  catalogue: Catalogue;
  actions: Pick<ReturnType<typeof useLanes>, 'setModel' | 'remove' | 'retry' | 'setResult' | 'sendResults'>;
}

const columns = ['', 'md:grid-cols-2', 'md:grid-cols-3'];

export function LaneColumns({ lanes, door, prepared, catalogue, actions }: LaneColumnsProps) {
  const many = lanes.length > 1;
  return (
    <div className={classNames('grid gap-px bg-line', columns[lanes.length - 1], 'overflow-hidden rounded-t-lg')}>
      {lanes.map((lane, index) => (
        <div className="flex min-w-0 flex-col bg-surface" key={lane.id}>
          <div className="flex items-end gap-1 border-b border-line p-3">
            <div className="min-w-0 grow">
              <ModelPicker
                catalogue={catalogue}
                kind={door.kind}
                label={many ? `Model ${index + 1}` : 'Model'}
                onChange={(model) => actions.setModel(lane.id, model)}
                value={lane.model}
              />
            </div>
            {many && (
              <IconButton
                icon={CloseIcon}
                label={`Remove column ${index + 1}`}
                onClick={() => actions.remove(lane.id)}
              />
            )}
          </div>
          <Conversation
            busy={lane.busy}
            empty={
              <EmptyState icon={PlaygroundIcon} title="No messages yet">
                {index === 0 && 'Choose a model and send a message. The sandbox models are free.'}
              </EmptyState>
            }
            label={many ? `Conversation ${index + 1}` : 'Conversation'}
            onResult={(callId, result) => actions.setResult(lane.id, callId, result)}
            onRetry={() => actions.retry(lane, door, prepared)}
            onSendResults={() => actions.sendResults(lane, door, prepared)}
            turns={lane.turns}
          />
          {many && <Figures lane={lane} />}
        </div>
      ))}
    </div>
  );
}

/** The two figures that models are compared by; the table below has the rest. */
function Figures({ lane: { outcome } }: { lane: Lane }) {
  return (
    <p className="tabular flex h-8 items-center justify-between gap-3 border-t border-line px-4 text-xs text-ink-3">
      {outcome && (
        <>
          <span className="shrink-0">{outcome.usage ? usd(outcome.usage.costUsd) : ''}</span>
          <span className="truncate">{`${milliseconds(outcome.firstByteMs)} first byte, ${milliseconds(outcome.totalMs)} in your browser`}</span>
        </>
      )}
    </p>
  );
}
