/** The thinking settings that Claude received, call by call, in Anthropic's or Bedrock's fields. */
import type { Json } from '../support/client.js';
import type { DialectGateway } from './dialect-gateway.js';

interface Block {
  type?: string;
  thinking?: string;
  signature?: string;
  reasoningContent?: { reasoningText: { text: string; signature: string } };
}

/** `budget`: it was asked to think; `thoughts`: what it got back of its own, signed. */
export function thinkingHeard({ upstream }: DialectGateway): { budget: boolean; thoughts: string[] }[] {
  return upstream.calls.map(({ json }) => {
    const { thinking, additionalModelRequestFields, messages } = json as Json & { messages: { content: Block[] }[] };
    const asked = (thinking ?? (additionalModelRequestFields as Json | undefined)?.thinking) as Json | undefined;
    const thoughts = messages.flatMap(({ content }) => content.flatMap(signedThought));
    return { budget: asked?.type === 'enabled', thoughts };
  });
}

function signedThought({ type, thinking, signature, reasoningContent }: Block): string[] {
  if (type === 'thinking' && signature) return [thinking!];
  return reasoningContent?.reasoningText.signature ? [reasoningContent.reasoningText.text] : [];
}
