/** The Playground page: a streamed chat with receipt, cost and timing, and the same request as code. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { catalogueQuery } from '../../api/queries.js';
import type { Catalogue } from '../../api/types.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { CodeBlock } from '../../components/code-block.js';
import { PageHeader } from '../../components/page-header.js';
import { Tabs } from '../../components/tabs.js';
import { useSession } from '../../layout/session-context.js';
import { Composer } from './composer.js';
import { Conversation } from './conversation.js';
import { ReceiptCard } from './receipt-card.js';
import { type Knobs, readKnobs, SettingsCard } from './settings-card.js';
import { curl, python, typescript } from './snippets.js';
import { useConversation } from './use-conversation.js';

export function Page() {
  const { data: catalogue } = useQuery(catalogueQuery);
  const [chosen, setModel] = useState<string | null>(null);
  const model = chosen ?? (catalogue ? firstModel(catalogue) : '');
  const [message, setMessage] = useState('');
  const [knobs, setKnobs] = useState<Knobs>({ system: '', temperature: '', maxTokens: '', stream: true });
  const conversation = useConversation();
  const { base_url: baseUrl } = useSession();
  const settings = { model: model.trim(), ...readKnobs(knobs) };

  const send = () => {
    if (!message.trim() || conversation.busy) return;
    void conversation.send(message, settings);
    setMessage('');
  };
  const lastQuestion = conversation.turns.findLast(({ role }) => role === 'user')?.content;
  const request = {
    baseUrl,
    model: settings.model,
    message: message || lastQuestion || 'Hello',
    system: knobs.system.trim(),
    stream: knobs.stream,
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.max_tokens !== undefined && { maxTokens: settings.max_tokens }),
  };
  return (
    <>
      <PageHeader
        actions={
          conversation.turns.length > 0 && (
            <Button disabled={conversation.busy} onClick={conversation.clear} variant="ghost">
              Start over
            </Button>
          )
        }
        description="Requests from here are checked, routed and billed like those of your programs."
        title="Playground"
      />
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_21rem]">
        <Card className="flex min-w-0 flex-col" flush>
          <Conversation busy={conversation.busy} turns={conversation.turns} />
          <Composer
            busy={conversation.busy}
            catalogue={catalogue}
            message={message}
            model={model}
            onMessage={setMessage}
            onModel={setModel}
            onSend={send}
            onStop={conversation.stop}
          />
        </Card>
        <div className="flex min-w-0 flex-col gap-5">
          <ReceiptCard busy={conversation.busy} result={conversation.result} />
          <SettingsCard knobs={knobs} onChange={setKnobs} />
        </div>
      </div>
      <Card className="mt-5" title="The same request in code">
        <Tabs
          label="Language"
          tabs={[
            { value: 'curl', label: 'curl', content: <CodeBlock code={curl(request)} label="curl command" /> },
            { value: 'python', label: 'Python', content: <CodeBlock code={python(request)} label="Python code" /> },
            {
              value: 'typescript',
              label: 'TypeScript',
              content: <CodeBlock code={typescript(request)} label="TypeScript code" />,
            },
          ]}
        />
      </Card>
    </>
  );
}

/** The free sandbox if it is available, so that a first message costs nothing; otherwise the first model. */
function firstModel({ data }: Catalogue): string {
  const free = data
    .flatMap(({ routes }) => routes)
    .find(({ id, servable }) => servable && id.startsWith('sandbox/lodestone/echo'));
  return free?.id ?? data.find(({ servable }) => servable)?.auto_id ?? '';
}
