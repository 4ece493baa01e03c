/** Reads the events of a Responses stream as OpenAI chunks, for the commit rule, the bill and the end of the stream. */

import { asLatin1, type Latin1Text } from '../../../base/latin1.js';
import { entryOf } from '../../../wire/json-text.js';
import {
  argumentsChunk,
  chunkAround,
  contentChunk,
  doneChunk,
  finishChunk,
  imageChunk,
  reasoningChunk,
  roleChunk,
  toolCallChunk,
  usageChunk,
} from '../chat-parts/chunks.js';
import { type Fields, isFields } from '../chat-parts/conversation.js';
import { type ReadEvent, readEvent } from '../chat-parts/stream-event.js';
import type { EmitChunk, StreamTranslator } from '../dialect.js';
import { finishReasonOf, usageOf } from './answer.js';

/** The events whose `delta` is generated text. */
const deltas: Record<string, 'content' | 'reasoning' | 'arguments'> = {
  'response.output_text.delta': 'content',
  'response.refusal.delta': 'content',
  'response.reasoning_text.delta': 'reasoning',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.function_call_arguments.delta': 'arguments',
  'response.custom_tool_call_input.delta': 'arguments',
  'response.code_interpreter_call_code.delta': 'content',
  'response.mcp_call_arguments.delta': 'content',
};

export class ResponseStream implements StreamTranslator {
  private calls = 0;
  private begun = false;

  onEvent(data: Latin1Text, event: string, emit: EmitChunk): void {
    const read = readEvent(data);
    // Anything else is for the relay to judge.
    if (read === null || !isFields(read.value)) emit(data);
    else this.take(read.value, String(read.value.type ?? event), read, emit);
  }

  onEnd(): void {}

  private take(event: Fields, type: string, { write }: ReadEvent, emit: EmitChunk): void {
    const kind = entryOf(deltas, type);
    if (kind !== undefined) {
      if (typeof event.delta !== 'string') return;
      const chunk =
        kind === 'content' ? contentChunk : kind === 'reasoning' ? reasoningChunk : argumentsChunk(this.calls - 1);
      emit(chunkAround(chunk, asLatin1(write(event.delta).slice(1, -1))));
      return;
    }
    const response = isFields(event.response) ? event.response : {};
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
        if (!this.begun) this.begin(response, write, emit);
        break;
      case 'response.output_item.added':
        this.open(isFields(event.item) ? event.item : {}, write, emit);
        break;
      // Events with pictures are large, and a client may have asked for nothing else, so they are not held back.
      case 'response.image_generation_call.partial_image':
        emit(imageChunk);
        break;
      case 'response.output_item.done':
        if (isFields(event.item) && event.item.type === 'image_generation_call' && event.item.result) emit(imageChunk);
        break;
      case 'response.completed':
      case 'response.incomplete':
        this.finish(response, write, emit);
        break;
      case 'response.failed': {
        const usage = usageOf(response);
        if (usage) emit(usageChunk(write(usage)));
        emit(asLatin1(`{"error":${write(response.error ?? { message: 'the response failed' })}}`));
        break;
      }
      case 'error': {
        const { type: _, sequence_number: __, ...error } = event;
        emit(asLatin1(`{"error":${write(isFields(error.error) ? error.error : error)}}`));
      }
    }
  }

  private begin(response: Fields, write: ReadEvent['write'], emit: EmitChunk): void {
    const usage = usageOf(response);
    emit(roleChunk(typeof response.model === 'string' ? write(response.model) : undefined, usage && write(usage)));
    this.begun = true;
  }

  private open({ type, call_id, name }: Fields, write: ReadEvent['write'], emit: EmitChunk): void {
    if (type !== 'function_call' && type !== 'custom_tool_call') return;
    emit(toolCallChunk(this.calls++, write(String(call_id)), write(String(name))));
  }

  private finish(response: Fields, write: ReadEvent['write'], emit: EmitChunk): void {
    // The model may be named only here.
    if (!this.begun) this.begin(response, write, emit);
    emit(finishChunk(finishReasonOf(response, this.calls > 0)));
    const usage = usageOf(response);
    if (usage) emit(usageChunk(write(usage)));
    emit(doneChunk);
  }
}
