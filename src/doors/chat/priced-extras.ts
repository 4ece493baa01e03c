/**
 * Finds what a chat request asks for that may have a price of its own: a tier, tools that run at the provider, audio in its
 * messages or its answer.
 */
import { gatewayError } from '../../errors/gateway-error.js';
import type { PricedExtras } from '../../wire/chat-request.js';
import { excerpt } from '../../wire/json-text.js';
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
    audio: (fields.messages as readonly Fields[]).some(({ content }) => hasAudio(content)),
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
  if (speed !== undefined && speed !== null && speed !== 'standard') {
    return { tier: boundedName(String(speed), 'speed'), tierParam: 'speed' };
  }
  return { tier: typeof tier === 'string' && !isOrdinaryTier(tier) ? boundedName(tier, 'service_tier') : null };
}

/** Longer than the name of any tier or hosted tool. */
const pricedNameMax = 100;
const hostedToolsMax = 64;

function boundedName(name: string, param: string): string {
  if (name.length <= pricedNameMax) return name;
  const range = `a name of at most ${pricedNameMax} characters`;
  throw gatewayError('parameter_out_of_range', { param, value: `a text of ${name.length} characters`, range });
}

/** Each of some tools that run at the provider once. */
export function hostedNames(names: readonly string[]): readonly string[] {
  const found = [...new Set(names)];
  const long = found.find((name) => name.length > pricedNameMax);
  if (long === undefined && found.length <= hostedToolsMax) return found;
  const what =
    long === undefined
      ? `\`tools\` has ${found.length} kinds of tools that run at the provider, but at most ${hostedToolsMax} can be asked for.`
      : `\`tools\` has a tool of the type "${excerpt(long)}". No type has more than ${pricedNameMax} characters.`;
  throw gatewayError('request_invalid', { param: 'tools', what });
}

const noTools: readonly string[] = [];

function providerTools({ tools }: Fields): readonly string[] {
  if (!Array.isArray(tools) || tools.length === 0) return noTools;
  const types = tools.flatMap((tool: Fields | null) => {
    const type = tool?.type;
    return typeof type === 'string' && !clientTools.has(type) ? [type.replace(toolVersion, '')] : [];
  });
  return hostedNames(types);
}

/** Whether one of the parts of a content is audio. */
export function hasAudio(content: unknown): boolean {
  return Array.isArray(content) && content.some((part: Fields | null) => part?.type === 'input_audio');
}
