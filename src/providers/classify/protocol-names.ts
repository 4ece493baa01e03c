/**
 * Names that the protocols define. They are in every request and nobody chose them, so they are no words of a client. `model` is
 * not among them: in an error it decides, and a client may choose it as the name of a tool or of a property.
 */

const openai =
  'messages role content name user assistant system developer tool type text image_url url detail input_audio data format file file_id filename tools function functions function_call parameters strict tool_choice auto none tool_calls tool_call_id id arguments index stream stream_options include_usage temperature top_p top_k min_p n stop max_tokens max_completion_tokens presence_penalty frequency_penalty repetition_penalty logit_bias logprobs top_logprobs seed response_format json_object json_schema schema reasoning reasoning_effort reasoning_content effort low medium high minimal metadata store service_tier parallel_tool_calls modalities audio voice prediction safety_identifier prompt_cache_key verbosity refusal';

const jsonSchema =
  'properties required description additionalProperties enum items anyOf oneOf allOf not $ref $defs $schema definitions object string number integer boolean array null title default minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems uniqueItems const examples nullable';

const anthropic =
  'stop_sequences source media_type base64 image document tool_use tool_result input input_schema tool_use_id is_error thinking budget_tokens signature enabled disabled adaptive cache_control ephemeral any output_config anthropic_version user_id';

const gemini =
  'contents parts inlineData fileData fileUri mimeType functionCall functionResponse functionDeclarations parametersJsonSchema generationConfig maxOutputTokens stopSequences candidateCount responseMimeType responseSchema responseJsonSchema responseLogprobs systemInstruction toolConfig functionCallingConfig mode allowedFunctionNames thinkingConfig thinkingBudget thinkingLevel includeThoughts thoughtSignature thought args response result output topP topK presencePenalty frequencyPenalty safetySettings AUTO ANY NONE';

const bedrock =
  'inferenceConfig maxTokens toolSpec inputSchema json toolChoice toolUse toolResult toolUseId status success error bytes additionalModelRequestFields reasoningContent reasoningText cachePoint';

export const protocolNames: ReadonlySet<string> = new Set(
  [openai, jsonSchema, anthropic, gemini, bedrock].flatMap((names) => names.split(' ')),
);
