/**
 * Reads the token usage of an answer. OpenAI-compatible servers name, split and total it in many ways. An oddity with a safe
 * interpretation is accepted; only a figure that cannot be billed is a fault.
 */
import { shown } from './json-text.js';
import { isPriced } from './priced-classes.js';
import type {
  TokenUsage,
  ToolCalls,
  UsageFigures,
  UsageOddity,
  UsageParts,
  UsageReading,
  UsageTerms,
} from './usage-types.js';

type Fields = Record<string, unknown>;

/** No context window is nearly this large, so a larger figure is an error of the provider. */
const figureMax = 10_000_000;
const contextWindowsMax = 8;
/** Tokenizers differ a little from the published window; a larger figure is reported to the operator. */
const contextWindowTolerance = 1.1;

const absent: UsageReading = { kind: 'absent' };
const noOddities: readonly UsageOddity[] = [];
const noDetails: Fields = {};
const noCalls: readonly ToolCalls[] = [];

/** `tier` is the one that the answer names outside its usage. */
export function readUsage(value: unknown, terms: UsageTerms, tier?: unknown): UsageReading {
  if (!isFields(value)) return absentAt(tier, terms);
  const promptValue = value.prompt_tokens ?? value.input_tokens ?? null;
  const completionValue = value.completion_tokens ?? value.output_tokens ?? null;
  const totalValue = value.total_tokens ?? null;
  // One missing figure follows from the total, but two do not.
  const missing = (promptValue === null ? 1 : 0) + (completionValue === null ? 1 : 0) + (totalValue === null ? 1 : 0);
  if (missing > 1) return absentAt(tier ?? value.service_tier, terms);

  const reader = new FigureReader(terms);
  const prompt = reader.read('prompt_tokens', promptValue);
  const completion = reader.read('completion_tokens', completionValue);
  const total = totalValue === null ? null : reader.readTotal(totalValue, prompt + completion);
  const figures: UsageFigures = {
    promptTokens: promptValue === null ? Math.max(0, total! - completion) : prompt,
    completionTokens: completionValue === null ? Math.max(0, total! - prompt) : completion,
    totalTokens: total,
    toolCalls: toolCallsOf(value, reader),
    tier: tierOf(tier ?? value.service_tier),
    ...partsOf(value, reader),
  };
  if (reader.fault !== null) return { kind: 'fault', reason: reader.fault };
  const unpriced = unpricedClass(figures, terms);
  if (unpriced) return { kind: 'fault', reason: `its usage has ${unpriced}, for which the route has no price` };
  const oddities: UsageOddity[] = [];
  settleParts(figures, terms, oddities);
  noteUnpricedExtras(figures, terms, oddities);
  if (reader.aboveContextWindow) oddities.push('above_context_window');
  return { kind: 'usage', usage: figures, oddities: oddities.length === 0 ? noOddities : oddities };
}

/** Whether it says nothing of what was delivered: there is none, or nothing but zeros. */
export function isEmptyUsage(reading: UsageReading): boolean {
  if (reading.kind !== 'usage') return reading.kind === 'absent';
  return reading.usage.promptTokens === 0 && reading.usage.completionTokens === 0;
}

function absentAt(named: unknown, { price }: UsageTerms): UsageReading {
  const tier = tierOf(named);
  if (tier === null) return absent;
  return hasTier(price, tier) ? { kind: 'absent', tier } : { kind: 'absent', unpricedTier: tier };
}

function hasTier(price: UsageTerms['price'], tier: string): boolean {
  return isPriced(price, ({ tiers }) => tiers?.has(tier) === true);
}

/** Names of the tier that has the ordinary price. */
const ordinaryTiers = new Set(['', 'auto', 'default', 'standard', 'standard_only', 'on_demand']);

export function isOrdinaryTier(tier: string): boolean {
  return ordinaryTiers.has(tier);
}

function tierOf(tier: unknown): string | null {
  return typeof tier === 'string' && !isOrdinaryTier(tier) ? tier : null;
}

/** `web_search_requests: 2` at Anthropic is two calls of `web_search`; xAI and others say `_calls` or `_queries`. */
const callsSuffix = /_(?:requests|calls|queries)$/;

function toolCallsOf(usage: Fields, reader: FigureReader): readonly ToolCalls[] {
  const counts = detailsOf(usage.server_tool_use ?? usage.server_side_tool_usage_details);
  if (counts === noDetails) return noCalls;
  const calls = Object.entries(counts).map(([name, count]) => ({
    name: name.replace(callsSuffix, ''),
    calls: reader.read(name, count),
  }));
  return calls.filter((each) => each.calls > 0);
}

/** What the provider did by itself and has no price: it is not billed, or at the ordinary price, and reported. */
function noteUnpricedExtras(figures: UsageFigures, { price }: UsageTerms, oddities: UsageOddity[]): void {
  if (
    figures.toolCalls.length > 0 &&
    figures.toolCalls.some(({ name }) => !isPriced(price, ({ tools }) => tools?.has(name) === true))
  )
    oddities.push('tool_without_price');
  const { tier } = figures;
  if (tier !== null && !hasTier(price, tier)) {
    figures.tier = null;
    figures.unpricedTier = tier;
    oddities.push('tier_without_price');
  }
}

/** Providers use different names for the same part; the first one that is present counts. */
function partsOf(usage: Fields, reader: FigureReader) {
  const inPrompt = detailsOf(usage.prompt_tokens_details ?? usage.input_tokens_details ?? usage.prompt_token_details);
  const inCompletion = detailsOf(usage.completion_tokens_details ?? usage.output_tokens_details);
  return {
    cachedTokens: reader.read(
      'cached_tokens',
      inPrompt.cached_tokens ?? usage.cached_tokens ?? usage.prompt_cache_hit_tokens,
    ),
    ...cacheWritesOf(usage, inPrompt, reader),
    promptAudioTokens: reader.read('prompt audio_tokens', inPrompt.audio_tokens ?? usage.audio_prompt_tokens),
    promptImageTokens: reader.read('prompt image_tokens', inPrompt.image_tokens),
    reasoningTokens: reader.read('reasoning_tokens', inCompletion.reasoning_tokens ?? usage.reasoning_tokens),
    completionAudioTokens: reader.read('output audio_tokens', inCompletion.audio_tokens),
    completionImageTokens: reader.read('output image_tokens', inCompletion.image_tokens),
    completionVideoTokens: reader.read('output video_tokens', inCompletion.video_tokens),
  };
}

/** `cache_creation` is Anthropic's own form, which some compatible servers pass on. DashScope has it among the details of the prompt. */
function cacheWritesOf(usage: Fields, inPrompt: Fields, reader: FigureReader) {
  const created = detailsOf(inPrompt.cache_creation ?? usage.cache_creation);
  const hour = reader.read(
    'cache_write_1h_tokens',
    inPrompt.cache_write_1h_tokens ?? created.ephemeral_1h_input_tokens,
  );
  const total =
    inPrompt.cache_write_tokens ??
    inPrompt.cache_creation_tokens ??
    inPrompt.cache_creation_input_tokens ??
    usage.cache_creation_input_tokens;
  return {
    cacheWriteTokens:
      total === undefined || total === null
        ? reader.read('ephemeral_5m_input_tokens', created.ephemeral_5m_input_tokens) + hour
        : reader.read('cache_write_tokens', total),
    cacheWrite1hTokens: hour,
  };
}

/** Reads figures and remembers the first one that cannot be billed, and whether one is implausible. */
class FigureReader {
  fault: string | null = null;
  aboveContextWindow = false;
  private readonly max: number;
  private readonly plausibleMax: number;

  constructor({ contextWindow }: UsageTerms) {
    this.max = Math.max(figureMax, contextWindowsMax * (contextWindow ?? 0));
    this.plausibleMax = contextWindow === null ? Number.POSITIVE_INFINITY : contextWindowTolerance * contextWindow;
  }

  /** A missing figure or null counts as 0. */
  read(name: string, value: unknown): number {
    if (value === undefined || value === null) return 0;
    const figure = this.count(name, value);
    this.bound(name, figure);
    return figure;
  }

  /** A total that is not above the sum of its parts needs no check of its own. */
  readTotal(value: unknown, parts: number): number {
    const total = this.count('total_tokens', value);
    if (total > parts) this.bound('total_tokens', total);
    return total;
  }

  private count(name: string, value: unknown): number {
    const figure = value as number;
    if (!Number.isSafeInteger(figure) || figure < 0) {
      this.fault ??= `its usage says ${name} = ${shown(value, 'utf8').slice(0, 40)}, which is no count of tokens`;
      return 0;
    }
    return figure;
  }

  private bound(name: string, figure: number): void {
    if (figure > this.max) this.fault ??= `its usage says ${name} = ${figure}, above the limit of ${this.max} tokens`;
    if (figure > this.plausibleMax) this.aboveContextWindow = true;
  }
}

/** Output of a kind that has no price on the route. Prompt audio and images are billed as ordinary input instead. */
function unpricedClass(figures: UsageFigures, { price }: UsageTerms): string | undefined {
  const { completionAudioTokens, completionImageTokens, completionVideoTokens } = figures;
  if (completionAudioTokens > 0 && !isPriced(price, ({ outputAudio }) => outputAudio !== undefined))
    return `${completionAudioTokens} output audio_tokens`;
  if (completionImageTokens > 0 && !isPriced(price, ({ outputImage }) => outputImage !== undefined))
    return `${completionImageTokens} output image_tokens`;
  if (completionVideoTokens > 0) return `${completionVideoTokens} output video_tokens`;
  return undefined;
}

/** Makes the parts consistent with the prompt and the completion, which are billed: where they disagree, the total counts. */
function settleParts(figures: UsageFigures, { hiddenReasoning, price }: UsageTerms, oddities: UsageOddity[]): void {
  const unexplained = addOutsideParts(figures);
  // The provider does not say what these tokens are, so they are output and not reported as reasoning.
  if (hiddenReasoning) figures.completionTokens += unexplained;
  if (figures.promptAudioTokens > 0 && !isPriced(price, ({ inputAudio }) => inputAudio !== undefined))
    oddities.push('prompt_audio_as_input');
  if (figures.cachedTokens > figures.promptTokens) oddities.push('cached_above_prompt');
  if (unexplained > 0 && !hiddenReasoning) oddities.push('unexplained_total');
  let prompt = figures.promptTokens;
  prompt -= figures.cachedTokens = Math.min(figures.cachedTokens, prompt);
  prompt -= figures.cacheWriteTokens = Math.min(figures.cacheWriteTokens, prompt);
  figures.cacheWrite1hTokens = Math.min(figures.cacheWrite1hTokens, figures.cacheWriteTokens);
  prompt -= figures.promptAudioTokens = Math.min(figures.promptAudioTokens, prompt);
  figures.promptImageTokens = Math.min(figures.promptImageTokens, prompt);
  let completion = figures.completionTokens;
  completion -= figures.reasoningTokens = Math.min(figures.reasoningTokens, completion);
  completion -= figures.completionAudioTokens = Math.min(figures.completionAudioTokens, completion);
  figures.completionImageTokens = Math.min(figures.completionImageTokens, completion);
}

/**
 * Adds tokens that a provider counts outside the prompt and the completion: reasoning at xAI, prompt audio at Mistral. Only a total
 * above both shows them. Returns the rest of the total that no figure explains.
 */
function addOutsideParts(figures: UsageFigures): number {
  const { totalTokens, promptTokens, completionTokens, reasoningTokens, promptAudioTokens } = figures;
  if (totalTokens === null || totalTokens <= promptTokens + completionTokens) return 0;
  const rest = totalTokens - promptTokens - completionTokens;
  const onlyAudio = rest === promptAudioTokens && rest !== reasoningTokens;
  const reasoning = onlyAudio ? 0 : Math.min(rest, reasoningTokens);
  const audio = Math.min(rest - reasoning, promptAudioTokens);
  figures.completionTokens += reasoning;
  figures.promptTokens += audio;
  return rest - reasoning - audio;
}

/** Details that are not an object are ignored. */
function detailsOf(value: unknown): Fields {
  return isFields(value) ? value : noDetails;
}

function isFields(value: unknown): value is Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

const none: readonly (TokenUsage & UsageParts)[] = [];
/**
 * Reads `usage.extra_iterations`: further calls of the provider for this answer, such as context compaction, that its own figures
 * leave out. Each entry is a usage and is billed separately, at the tier of the answer. Entries that cannot be billed are skipped here, because the
 * translator has put their figures into the answer's own usage, where they are reported.
 */
export function extraIterations(usage: unknown, terms: UsageTerms): readonly (TokenUsage & UsageParts)[] {
  const entries = (usage as { extra_iterations?: unknown } | null | undefined)?.extra_iterations;
  if (!Array.isArray(entries)) return none;
  return entries.flatMap((entry) => {
    const reading = readUsage(entry, terms, (usage as { service_tier?: unknown }).service_tier);
    return reading.kind === 'usage' ? [reading.usage] : [];
  });
}
