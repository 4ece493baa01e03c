/** Finds what a chat request asks for that may have a price of its own: a tier, tools that run at the provider, audio in its messages. */
import type { PricedExtras } from '../../wire/chat-request.js';
import { isOrdinaryTier } from '../../wire/usage.js';

type Fields = Record<string, unknown>;

/** Kinds of tools that the client runs itself. */
const clientTools = new Set(['function', 'custom']);

/** Versions that providers put behind the name of a tool: `web_search_20250305`, `web_search_preview_2025_03_11`. */
const toolVersion = /_(?:preview(?:_[\d_]+)?|\d{8})$/;

/** undefined where the request asks for nothing of the kind, which is the usual case. */
export function pricedExtrasOf(fields: Fields): PricedExtras | undefined {
  const { service_tier: tier } = fields;
  const extras: PricedExtras = {
    tier: typeof tier === 'string' && !isOrdinaryTier(tier) ? tier : null,
    tools: providerTools(fields),
    audio: hasAudio(fields.messages),
  };
  return extras.tier === null && extras.tools.length === 0 && !extras.audio ? undefined : extras;
}

function providerTools({ tools, web_search_options }: Fields): readonly string[] {
  const types = (Array.isArray(tools) ? tools : []).flatMap((tool: Fields | null) => {
    const type = tool?.type;
    return typeof type === 'string' && !clientTools.has(type) ? [type.replace(toolVersion, '')] : [];
  });
  if (web_search_options !== undefined && web_search_options !== null) types.push('web_search');
  return [...new Set(types)];
}

function hasAudio(messages: unknown): boolean {
  return (messages as readonly Fields[]).some(
    ({ content }) => Array.isArray(content) && content.some((part: Fields | null) => part?.type === 'input_audio'),
  );
}
