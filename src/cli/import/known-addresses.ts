/** Providers with OpenAI's API that LiteLLM calls by name alone, and the catalogue does not have: where they are, and whose key LiteLLM takes. */
export const knownAddresses: Readonly<Record<string, { address: string; variable: string }>> = {
  aihubmix: { address: 'https://aihubmix.com/v1', variable: 'AIHUBMIX_API_KEY' },
  chutes: { address: 'https://llm.chutes.ai/v1', variable: 'CHUTES_API_KEY' },
  crusoe: { address: 'https://managed-inference-api-proxy.crusoecloud.com/v1', variable: 'CRUSOE_API_KEY' },
  github: { address: 'https://models.inference.ai.azure.com', variable: 'GITHUB_API_KEY' },
  meta_llama: { address: 'https://api.llama.com/compat/v1', variable: 'LLAMA_API_KEY' },
  'nano-gpt': { address: 'https://nano-gpt.com/api/v1', variable: 'NANOGPT_API_KEY' },
  nvidia_nim: { address: 'https://integrate.api.nvidia.com/v1', variable: 'NVIDIA_NIM_API_KEY' },
  perplexity: { address: 'https://api.perplexity.ai', variable: 'PERPLEXITYAI_API_KEY' },
  poe: { address: 'https://api.poe.com/v1', variable: 'POE_API_KEY' },
  veniceai: { address: 'https://api.venice.ai/api/v1', variable: 'VENICE_AI_API_KEY' },
  volcengine: { address: 'https://ark.cn-beijing.volces.com/api/v3', variable: 'VOLCENGINE_API_KEY' },
  wandb: { address: 'https://api.inference.wandb.ai/v1', variable: 'WANDB_API_KEY' },
};
