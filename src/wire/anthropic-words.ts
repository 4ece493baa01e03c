/** Words of Anthropic's API that its door and its dialect share. */

/** Marks reasoning that only Anthropic accepts back. OpenRouter uses the same name. */
export const reasoningFormat = 'anthropic-claude-v1';

/** Stop reasons that are not in the table mean `stop`: `end_turn`, `stop_sequence`, `pause_turn` and future ones. */
export const finishReasons: Readonly<Record<string, string>> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

/** The stop reason of a finish reason. Which sequence stopped an answer is not known, so that is never claimed. */
export const stopReasons: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
};
