/** The strings of a request as it was sent, keys and values alike: whatever a provider's error may repeat. */
import { Squeezed, startsString } from './squeezed.js';

/** What a client asked and what was sent for it, as JSON text. */
export interface SentTexts {
  readonly texts: readonly string[];
  /** Strings in it that the operator chose, not the client: the name of the model. */
  readonly ours: readonly string[];
}

export const nothingSent: SentTexts = { texts: [], ours: [] };

export class SentStrings {
  readonly squeezed: Squeezed;
  private spaced: string | null = null;

  constructor({ texts, ours }: SentTexts) {
    this.squeezed = new Squeezed(texts.reduce((sum, { length }) => sum + length, 0));
    for (const text of texts) this.read(withoutModel(text, ours), new Set(ours));
  }

  /** Whether a word occurs in any of the strings, also as a part of a longer word. */
  has(word: string): boolean {
    this.spaced ??= this.squeezed.spacedText();
    return this.spaced.includes(word);
  }

  /** JSON text is taken apart at its quotation marks: parsing would make millions of values of it. */
  private read(text: string, ours: ReadonlySet<string>): void {
    let start = text.indexOf('"') + 1;
    while (start > 0) {
      const end = endOfString(text, start);
      const short = end - start <= 40 ? text.slice(start, end) : '';
      if (!protocolNames.has(short) && !ours.has(short)) this.take(text, start, end);
      start = text.indexOf('"', end + 1) + 1;
    }
  }

  private take(text: string, start: number, end: number): void {
    this.squeezed.add(text, start, end, startsString);
    if (!/^\s*[{[]/.test(text.slice(start, start + 8))) return;
    // JSON inside a string: a provider may read it, and repeat one of its strings.
    let from = start;
    while (from < end) {
      const quote = text.indexOf('"', from);
      const to = quote < 0 || quote > end ? end : quote;
      this.squeezed.add(text, from, to, startsString);
      from = to + 1;
    }
  }
}

/** The key `model`, once, and the role of the same name in Gemini's dialect. */
function withoutModel(text: string, ours: readonly string[]): string {
  const plain = ours.reduce((rest, model) => rest.replace(`"model":${JSON.stringify(model)}`, ''), text);
  return plain.replaceAll('"role":"model"', '');
}

function endOfString(text: string, start: number): number {
  let from = start;
  for (;;) {
    const end = text.indexOf('"', from);
    if (end < 0) return text.length;
    let before = end;
    while (before > start && text.charCodeAt(before - 1) === 92) before--;
    if ((end - before) % 2 === 0) return end;
    from = end + 1;
  }
}

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
