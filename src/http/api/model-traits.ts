/** What `/v1/models` says about what a model reads and writes, under OpenRouter's names. */
import type { Capability, Model, Route } from '../../catalogue/route.js';

export interface Architecture {
  /** `text+image->text`, `text->embeddings`. */
  modality: string;
  input_modalities: string[];
  output_modalities: string[];
}

const outputOf = { chat: 'text', embedding: 'embeddings', rerank: 'rerank' } as const;

/** Images are read where one of the routes reads them. */
export function architectureOf({ kind = 'chat' }: Model, routes: readonly Route[]): Architecture {
  const input = routes.some(({ capabilities }) => capabilities.has('vision')) ? ['text', 'image'] : ['text'];
  const output = outputOf[kind];
  return { modality: `${input.join('+')}->${output}`, input_modalities: input, output_modalities: [output] };
}

/** Every route applies these unless the catalogue says otherwise. */
const universalParameters = [
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'stream',
];

/** `vision` is a kind of content, not a parameter. */
const parametersOf: Record<Capability, readonly string[]> = {
  tools: ['tools', 'tool_choice'],
  vision: [],
  response_format: ['response_format'],
  json_object: ['response_format'],
  json_schema: ['response_format'],
  logprobs: ['logprobs', 'top_logprobs'],
  logit_bias: ['logit_bias'],
  n: ['n'],
};

/** Parameters of the APIs that are no chat. */
const taskParameters: Record<'embedding' | 'rerank', readonly string[]> = {
  embedding: ['dimensions', 'encoding_format', 'user'],
  rerank: ['top_n', 'return_documents'],
};

export function supportedParameters({ kind = 'chat', fixedDimensions }: Model, routes: readonly Route[]): string[] {
  if (kind !== 'chat') return taskParameters[kind].filter((name) => name !== 'dimensions' || !fixedDimensions);
  const parameters = new Set<string>();
  for (const route of routes) {
    const unsupported: readonly string[] = route.unsupportedParameters ?? [];
    for (const name of universalParameters) if (!unsupported.includes(name)) parameters.add(name);
    for (const capability of route.capabilities) for (const name of parametersOf[capability]) parameters.add(name);
  }
  return [...parameters];
}
