/** The names of price classes, as they are shown. */

const names: Record<string, string> = {
  input: 'Input',
  output: 'Output',
  cached_input: 'Cache read',
  cache_write: 'Cache write, 5 minutes',
  cache_write_1h: 'Cache write, 1 hour',
  reasoning: 'Reasoning',
  input_audio: 'Audio input',
  output_audio: 'Audio output',
  input_image: 'Image input',
  output_image: 'Image output',
  request: 'Request',
  unpriced_tools: 'Tool calls without a price',
};

const toolPrefix = 'tools.';

export function priceName(name: string): string {
  return name.startsWith(toolPrefix) ? `Tool: ${name.slice(toolPrefix.length)}` : (names[name] ?? name);
}

/** Whether the price is for a million of them, and not for one. */
export function isPerMillion(name: string): boolean {
  return name !== 'request' && !name.startsWith(toolPrefix);
}
