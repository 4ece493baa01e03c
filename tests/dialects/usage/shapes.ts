/** How each kind of provider reports what it did: one or several readings of the same work, also the odd ones that occur. */
import type { SeededRandom } from '../../support/seeded-random.js';
import { completionClasses, promptClasses, type Work } from './price-oracle.js';

type Fields = Record<string, unknown>;

/** A report, and the work that it must be read as. */
export interface Report {
  usage: Fields;
  work: Work;
  /** Members of the answer beside its usage. */
  beside?: Fields;
  hiddenReasoning?: boolean;
}

export interface UsageShape {
  readonly dialect: 'openai' | 'azure' | 'anthropic' | 'gemini' | 'bedrock';
  readonly name: string;
  /** The classes that it can report, beside input and output. */
  readonly classes: readonly (keyof Work)[];
  report(work: Work, random: SeededRandom): Report;
}

const promptOf = (work: Work): number => promptClasses.reduce((sum, name) => sum + work[name], 0);
const completionOf = (work: Work): number => completionClasses.reduce((sum, name) => sum + work[name], 0);
/** Left out, null or written where it is 0. */
const figure = (random: SeededRandom, name: string, value: number): Fields => {
  if (value > 0) return { [name]: value };
  return random.pick<Fields>([{}, { [name]: null }, { [name]: 0 }]);
};

const openAiClasses = [
  'cached_input',
  'cache_write',
  'input_audio',
  'input_image',
  'reasoning',
  'output_audio',
  'output_image',
  'tier',
] as const;

function openAiUsage(work: Work, random: SeededRandom): Fields {
  const [prompt, completion] = [promptOf(work), completionOf(work)];
  return {
    ...{ prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
    prompt_tokens_details: {
      ...figure(random, 'cached_tokens', work.cached_input),
      ...figure(random, 'cache_write_tokens', work.cache_write),
      ...figure(random, 'audio_tokens', work.input_audio),
      ...figure(random, 'image_tokens', work.input_image),
    },
    completion_tokens_details: {
      ...figure(random, 'reasoning_tokens', work.reasoning),
      ...figure(random, 'audio_tokens', work.output_audio),
      ...figure(random, 'image_tokens', work.output_image),
      ...{ accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
    },
  };
}

const besideTier = ({ tier }: Work, random: SeededRandom): Fields => {
  if (tier !== null) return { service_tier: tier };
  return random.pick<Fields>([{}, { service_tier: null }, { service_tier: 'default' }, { service_tier: 'auto' }]);
};

const openai: UsageShape['report'] = (work, random) => ({
  usage: openAiUsage(work, random),
  work,
  beside: besideTier(work, random),
});

const anthropic: UsageShape['report'] = (work, random) => {
  const written = work.cache_write + work.cache_write_1h;
  const split = {
    ephemeral_5m_input_tokens: work.cache_write,
    ephemeral_1h_input_tokens: work.cache_write_1h,
  };
  const usage: Fields = {
    input_tokens: work.input,
    ...figure(random, 'cache_read_input_tokens', work.cached_input),
    output_tokens: work.output + work.reasoning,
    ...(work.reasoning > 0 && { output_tokens_details: { thinking_tokens: work.reasoning } }),
    service_tier: work.tier ?? random.pick([null, 'standard']),
    server_tool_use: Object.values(work.tools).some((calls) => calls > 0)
      ? { web_search_requests: work.tools.web_search ?? 0, web_fetch_requests: 0 }
      : null,
  };
  const form = random.below(4);
  // Only the split, only the total (all of it for five minutes), both, or a part for an hour that is above the total.
  if (form === 0) return { usage: { ...usage, cache_creation: split }, work };
  if (form === 1) {
    const asMinutes = { ...work, cache_write: written, cache_write_1h: 0 };
    return { usage: { ...usage, cache_creation_input_tokens: written, cache_creation: null }, work: asMinutes };
  }
  if (form === 2) return { usage: { ...usage, cache_creation_input_tokens: written, cache_creation: split }, work };
  const above = { ...split, ephemeral_1h_input_tokens: written + 5 };
  const asHour = { ...work, cache_write: 0, cache_write_1h: written };
  return { usage: { ...usage, cache_creation_input_tokens: written, cache_creation: above }, work: asHour };
};

const gemini: UsageShape['report'] = (work, random) => {
  const candidates = work.output + work.output_audio + work.output_image;
  const ofTools = random.chance(0.3) ? random.below(work.input + 1) : 0;
  const prompt = promptOf(work) - ofTools;
  const counts = [
    { modality: 'TEXT', tokenCount: Math.max(0, work.input + work.cached_input - ofTools) },
    ...(work.input_audio > 0 ? [{ modality: 'AUDIO', tokenCount: work.input_audio }] : []),
    ...(work.input_image > 0 ? [{ modality: 'IMAGE', tokenCount: work.input_image }] : []),
  ];
  const said = [
    ...(work.output > 0 ? [{ modality: 'TEXT', tokenCount: work.output }] : []),
    ...(work.output_audio > 0 ? [{ modality: 'AUDIO', tokenCount: work.output_audio }] : []),
    ...(work.output_image > 0 ? [{ modality: 'IMAGE', tokenCount: work.output_image }] : []),
  ];
  // The figure of the answer itself is sometimes missing, and follows from the total.
  const derived = random.chance(0.2);
  return {
    usage: {
      promptTokenCount: prompt,
      ...(derived ? {} : figure(random, 'candidatesTokenCount', candidates)),
      totalTokenCount: promptOf(work) + candidates + work.reasoning,
      ...figure(random, 'cachedContentTokenCount', work.cached_input),
      ...figure(random, 'thoughtsTokenCount', work.reasoning),
      ...(ofTools > 0 && { toolUsePromptTokenCount: ofTools }),
      promptTokensDetails: counts,
      ...(said.length > 0 && { candidatesTokensDetails: said }),
      trafficType: { flex: 'ON_DEMAND_FLEX', priority: 'ON_DEMAND_PRIORITY' }[work.tier ?? ''] ?? 'ON_DEMAND',
    },
    work,
  };
};

const bedrock: UsageShape['report'] = (work, random) => {
  const written = work.cache_write + work.cache_write_1h;
  const details = [
    ...(work.cache_write > 0 ? [{ ttl: '5m', inputTokens: work.cache_write }] : []),
    ...(work.cache_write_1h > 0 ? [{ ttl: '1h', inputTokens: work.cache_write_1h }] : []),
  ];
  return {
    usage: {
      inputTokens: work.input,
      outputTokens: work.output,
      totalTokens: work.input + work.output + random.pick([0, work.cached_input + written]),
      ...figure(random, 'cacheReadInputTokens', work.cached_input),
      ...(random.chance(0.7) && { cacheWriteInputTokens: written }),
      ...(details.length > 0 && { cacheDetails: details }),
    },
    work,
    beside: { serviceTier: { type: work.tier ?? 'default' } },
  };
};

const caches = ['cached_input', 'cache_write', 'cache_write_1h'] as const;

export const usageShapes: readonly UsageShape[] = [
  { dialect: 'openai', name: 'OpenAI', classes: openAiClasses, report: openai },
  { dialect: 'azure', name: 'Azure', classes: openAiClasses, report: openai },
  { dialect: 'anthropic', name: 'Anthropic', classes: [...caches, 'reasoning', 'tools', 'tier'], report: anthropic },
  {
    dialect: 'gemini',
    name: 'Gemini',
    classes: ['cached_input', 'input_audio', 'input_image', 'reasoning', 'output_audio', 'output_image', 'tier'],
    report: gemini,
  },
  { dialect: 'bedrock', name: 'Bedrock', classes: [...caches, 'tier'], report: bedrock },
  {
    dialect: 'openai',
    name: 'xAI, which counts reasoning beside the completion',
    classes: ['cached_input', 'reasoning', 'tools', 'tier'],
    report: (work, random) => ({
      ...openai(work, random),
      usage: {
        ...openAiUsage(work, random),
        completion_tokens: work.output,
        server_side_tool_usage_details: { web_search_calls: work.tools.web_search ?? 0, x_search_calls: 0 },
      },
    }),
  },
  {
    dialect: 'openai',
    name: 'Mistral, which counts audio beside the prompt',
    classes: ['input_audio'],
    report: (work, random) => ({
      work,
      usage: { ...openAiUsage(work, random), prompt_tokens: promptOf(work) - work.input_audio },
    }),
  },
  {
    dialect: 'openai',
    name: 'Moonshot, with cached tokens at the top',
    classes: ['cached_input'],
    report: (work) => ({
      work,
      usage: {
        ...{ prompt_tokens: promptOf(work), completion_tokens: work.output },
        ...{ total_tokens: promptOf(work) + work.output, cached_tokens: work.cached_input },
      },
    }),
  },
  {
    dialect: 'openai',
    name: 'DeepSeek, with hits and misses',
    classes: ['cached_input', 'reasoning'],
    report: (work) => ({
      work,
      usage: {
        ...{ prompt_tokens: promptOf(work), completion_tokens: completionOf(work) },
        ...{ prompt_cache_hit_tokens: work.cached_input, prompt_cache_miss_tokens: work.input },
        completion_tokens_details: { reasoning_tokens: work.reasoning },
      },
    }),
  },
  {
    dialect: 'openai',
    name: 'a server that leaves out the completion',
    classes: ['cached_input'],
    report: (work) => ({
      work,
      usage: {
        ...{ input_tokens: promptOf(work), total_tokens: promptOf(work) + work.output },
        input_tokens_details: { cached_tokens: work.cached_input },
      },
    }),
  },
  {
    dialect: 'openai',
    name: 'a total that says more than its parts',
    classes: ['cached_input'],
    report: (work, random) => {
      const hiddenReasoning = random.chance(0.5);
      const hidden = random.below(500);
      const usage = openAiUsage(work, random);
      usage.total_tokens = (usage.total_tokens as number) + hidden;
      return { usage, hiddenReasoning, work: hiddenReasoning ? { ...work, output: work.output + hidden } : work };
    },
  },
  {
    dialect: 'openai',
    name: 'more cached tokens than prompt',
    classes: ['cached_input'],
    report: (work, random) => {
      const prompt = promptOf(work);
      const usage = openAiUsage({ ...work, input: 0, cached_input: prompt }, random);
      usage.prompt_tokens_details = { cached_tokens: prompt + random.below(100) };
      return { usage, work: { ...work, input: 0, cached_input: prompt } };
    },
  },
];
