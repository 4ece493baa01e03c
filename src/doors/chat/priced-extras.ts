/**
 * Finds what a chat request asks for that may have a price of its own: a tier, tools that run at the provider, audio in its
 * messages or its answer.
 */
import type { PricedExtras } from '../../wire/chat-request.js';
import { isOrdinaryTier } from '../../wire/usage.js';
import { storedInChat } from '../stored-objects.js';

type Fields = Record<string, unknown>;

/** Kinds of tools that the client runs itself. */
const clientTools = new Set(['function', 'custom']);

/** Versions that providers put behind the name of a tool: `web_search_20250305`, `web_search_preview_2025_03_11`. */
const toolVersion = /_(?:preview(?:_[\d_]+)?|\d{8})$/;

/** undefined where the request asks for nothing of the kind, which is the usual case. */
export function pricedExtrasOf(fields: Fields): PricedExtras | undefined {
  const { web_search_options: search } = fields;
  const extras: PricedExtras = {
    ...tierAsked(fields),
    tools: providerTools(fields),
    audio: hasAudio(fields.messages),
    spoken: isSpoken(fields),
    searchOptions: search !== undefined && search !== null,
    stored: storedInChat(fields),
  };
  const { tier, tools, audio, spoken, searchOptions, stored } = extras;
  return tier !== null || tools.length > 0 || audio || spoken || searchOptions || stored ? extras : undefined;
}

/** Whether the answer is asked to be spoken. */
export function isSpoken({ modalities }: Fields): boolean {
  return Array.isArray(modalities) && modalities.includes('audio');
}

/** What the request asks for as a tier: `service_tier`, or Anthropic's `speed`. */
export function tierAsked({ speed, service_tier: tier }: Fields): Pick<PricedExtras, 'tier' | 'tierParam'> {
  if (speed !== undefined && speed !== null && speed !== 'standard') return { tier: String(speed), tierParam: 'speed' };
  return { tier: typeof tier === 'string' && !isOrdinaryTier(tier) ? tier : null };
}

function providerTools({ tools }: Fields): readonly string[] {
  const types = (Array.isArray(tools) ? tools : []).flatMap((tool: Fields | null) => {
    const type = tool?.type;
    return typeof type === 'string' && !clientTools.has(type) ? [type.replace(toolVersion, '')] : [];
  });
  return [...new Set(types)];
}

function hasAudio(messages: unknown): boolean {
  return (messages as readonly Fields[]).some(
    ({ content }) => Array.isArray(content) && content.some((part: Fields | null) => part?.type === 'input_audio'),
  );
}
