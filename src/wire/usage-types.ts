/** What a usage is read as: the figures that are billed, and what a reading may come to. */
import type { PricedClasses } from './priced-classes.js';

export interface TokenUsage {
  promptTokens: number;
  completionTokens: number;
  /** A part of the prompt. */
  cachedTokens: number;
  /** A part of the completion. */
  reasoningTokens: number;
}

/** Parts of the prompt and the completion that may have prices of their own, and what is billed beside tokens. */
export interface UsageParts {
  cacheWriteTokens: number;
  /** A part of the tokens written: those that are kept for an hour. */
  cacheWrite1hTokens: number;
  promptAudioTokens: number;
  promptImageTokens: number;
  completionAudioTokens: number;
  completionImageTokens: number;
  /** Calls of tools that run at the provider. */
  toolCalls: readonly ToolCalls[];
  /** The tier that the answer names; null for the ordinary one, and for one that has no price. */
  tier: string | null;
  /** A tier that the answer names and that has no price. */
  unpricedTier?: string;
  /** How often the price of a request is due; absent = once. */
  requests?: number;
}

export interface ToolCalls {
  readonly name: string;
  readonly calls: number;
}

export interface UsageFigures extends TokenUsage, UsageParts {
  completionVideoTokens: number;
  /** As the provider wrote it; null where there is none. */
  totalTokens: number | null;
}

/** The properties of a route that the reading depends on. */
export interface UsageTerms {
  /** null = not published. */
  readonly contextWindow: number | null;
  /** The provider counts reasoning in its total only. */
  readonly hiddenReasoning?: boolean;
  /** Decides which classes, tools and tiers can be billed. */
  readonly price?: PricedClasses | null;
}

/** Usage that is billed, but that an operator should know about. */
export type UsageOddity =
  | 'prompt_audio_as_input'
  | 'tool_without_price'
  | 'tier_without_price'
  | 'cached_above_prompt'
  | 'unexplained_total'
  | 'above_context_window';

export type UsageReading =
  | { kind: 'usage'; usage: UsageFigures; oddities: readonly UsageOddity[] }
  /** The upstream gave no usage that can be billed: the gateway counts tokens itself, at the tier that the answer names. */
  | { kind: 'absent'; tier?: string; unpricedTier?: string }
  /** A figure that cannot be billed. */
  | { kind: 'fault'; reason: string };
