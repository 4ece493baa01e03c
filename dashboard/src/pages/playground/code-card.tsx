/** The same request as code, in the libraries of the chosen API: with every turn that the next request repeats. */
import { useState } from 'react';
import { Card } from '../../components/card.js';
import { CodeBlock } from '../../components/code-block.js';
import { Select } from '../../components/field.js';
import { Tabs } from '../../components/tabs.js';
import { useSession } from '../../layout/session-context.js';
import type { PlaygroundDoor } from './doors/door.js';
import { type PlaygroundRequest, repeatedTurns } from './request.js';
import { snippetsOf } from './snippets.js';
import type { Lane, Prepared, Question } from './use-lanes.js';

export interface CodeCardProps {
  door: PlaygroundDoor;
  lanes: readonly Lane[];
  prepared: Prepared;
  /** What is written but not sent yet. */
  draft: Question;
}

export function CodeCard({ door, lanes, prepared, draft }: CodeCardProps) {
  const { base_url: baseUrl } = useSession();
  const [chosen, setChosen] = useState(0);
  const lane = lanes[chosen] ?? lanes[0];
  if (!lane) return null;
  const body = door.body(shortened(requestOf(lane, prepared, door, draft)));
  return (
    <Card
      action={
        lanes.length > 1 && (
          <Select
            hideLabel
            label="Which request"
            onChange={(event) => setChosen(Number(event.target.value))}
            options={lanes.map(({ model }, index) => ({ value: String(index), label: model }))}
            value={String(chosen)}
          />
        )
      }
      title="The same request in code"
    >
      <Tabs
        label="Language"
        tabs={snippetsOf(door, body, { baseUrl }).map(({ language, code }) => ({
          value: language,
          label: language,
          content: <CodeBlock code={code} label={language === 'curl' ? 'curl command' : `${language} code`} />,
        }))}
      />
    </Card>
  );
}

/** The next request with the draft; without a draft, the last one that was sent. */
function requestOf(
  { model, turns }: Lane,
  prepared: Prepared,
  door: PlaygroundDoor,
  draft: Question,
): PlaygroundRequest {
  const hasDraft = draft.text.trim() !== '' || draft.pictures.length > 0;
  const question = { id: -1, role: 'user' as const, content: draft.text || 'Hello', pictures: draft.pictures };
  const lastQuestion = turns.findLastIndex(({ role }) => role === 'user');
  const asked =
    hasDraft || lastQuestion < 0
      ? [...repeatedTurns(turns), question]
      : repeatedTurns(turns.slice(0, lastQuestion + 1));
  return { ...prepared, model: model.trim(), turns: asked, stream: prepared.stream && door.streams };
}

/** A picture as text would fill the page. */
function shortened(request: PlaygroundRequest): PlaygroundRequest {
  const turns = request.turns.map(({ pictures, ...turn }) => ({
    ...turn,
    ...(pictures?.length && {
      pictures: pictures.map(({ name, url }) => ({ name, url: `${url.slice(0, url.indexOf(',') + 25)}…` })),
    }),
  }));
  return { ...request, turns };
}
