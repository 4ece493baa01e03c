/**
 * Translates the events of a message to OpenAI chunks. A delta of the open block is recognised by its beginning, and its text is
 * copied with its escapes; all other events are parsed. Unknown events are ignored.
 */

import { asLatin1, type Latin1Text } from '../../../base/latin1.js';
import { reasoningFormat } from '../../../wire/anthropic-words.js';
import { entryOf } from '../../../wire/json-text.js';
import {
  argumentsChunk,
  type ChunkAround,
  chunkAround,
  contentChunk,
  doneChunk,
  finishChunk,
  reasoningChunk,
  reasoningDetailsChunk,
  roleChunk,
  toolCallChunk,
  usageChunk,
} from '../chat-parts/chunks.js';
import { toolCallId } from '../chat-parts/completion.js';
import { type Fields, isFields } from '../chat-parts/conversation.js';
import { keepReasoning, keepSignature, OpenBlocks } from '../chat-parts/open-blocks.js';
import { isStringInside, type ReadEvent, readEvent } from '../chat-parts/stream-event.js';
import type { EmitChunk, StreamTranslator } from '../dialect.js';
import { finishReasonOf, usageOf } from './usage.js';

type Write = ReadEvent['write'];

/** The type of a block's deltas, and the member that is passed on. */
const deltaOf: Record<string, { type: string; member: string }> = {
  text: { type: 'text_delta', member: 'text' },
  thinking: { type: 'thinking_delta', member: 'thinking' },
  tool_use: { type: 'input_json_delta', member: 'partial_json' },
};

/** The block type for deltas without a start event. A tool call needs the start event, which names the tool. */
const typeOf: Record<string, string> = { text_delta: 'text', thinking_delta: 'thinking' };

interface Block {
  type: string;
  chunk: ChunkAround;
  /** The beginning of its deltas, up to the text. */
  prefix: string;
  member: string;
  /** The text so far, as the inside of a JSON string; only kept for thinking, and null where that is too long. */
  text: string | null;
  empty: boolean;
  /** The signature so far, as the inside of a JSON string. */
  signature: string;
  /** The input of a tool in the start event, as JSON text; empty where it has none. */
  input: string;
}

export class MessageStream implements StreamTranslator {
  private readonly blocks = new OpenBlocks<Block>();
  /** Indexes of blocks that have no OpenAI equivalent, such as those of tools that run at the provider. */
  private readonly leftOut = new Set<unknown>();
  private toolCalls = 0;
  /** The last call, where its block ended without arguments: it may have been cut off. */
  private unfilled: ChunkAround | null = null;
  private reasonings = 0;
  private usage: Fields = {};
  /** A stop reason in the first event: the answer was complete by then. */
  private stopReason: unknown;
  /** A block of the answer has begun. */
  private opened = false;
  private finished = false;

  onEvent(data: Latin1Text, event: string, emit: EmitChunk): void {
    const { latest: block } = this.blocks;
    if (block !== null) {
      const inside = textIn(data, block.prefix);
      if (inside !== null) {
        passOn(block, inside, emit);
        return;
      }
    }
    const read = readEvent(data);
    // Anything else, above all an error, is for the relay to judge.
    if (read === null || !isFields(read.value) || read.value.type === 'error' || event === 'error') emit(data);
    else this.parsedEvent(read.value, read.write, data, emit);
  }

  onEnd(emit: EmitChunk): void {
    if (typeof this.stopReason === 'string') this.finish(this.stopReason, emit);
  }

  private parsedEvent(event: Fields, write: Write, data: Latin1Text, emit: EmitChunk): void {
    switch (event.type) {
      case 'message_start':
        this.start(isFields(event.message) ? event.message : {}, write, emit);
        break;
      case 'content_block_start':
        this.open(event.index, isFields(event.content_block) ? event.content_block : {}, write, emit);
        break;
      case 'content_block_delta':
        if (isFields(event.delta)) this.delta(event.index, event.delta, write, emit);
        break;
      case 'content_block_stop':
        this.close(event.index, emit);
        break;
      case 'message_delta': {
        if (isFields(event.delta) && typeof event.delta.stop_reason === 'string') {
          this.finish(event.delta.stop_reason, emit);
        }
        const usage = this.usageWith(event.usage);
        if (usage !== undefined) emit(usageChunk(usage));
        break;
      }
      case 'message_stop':
        // An empty message without a stop reason is not an answer.
        if (this.opened || typeof this.stopReason === 'string') this.finish(this.stopReason, emit);
        emit(doneChunk);
        break;
      default:
        if (isFields(event.error)) emit(data);
    }
  }

  /** The message is still empty, unless it was made without the model, as in programmatic tool calling. */
  private start({ model, usage, content, stop_reason }: Fields, write: Write, emit: EmitChunk): void {
    this.stopReason = stop_reason;
    emit(roleChunk(typeof model === 'string' ? write(model) : undefined, this.usageWith(usage)));
    if (!Array.isArray(content)) return;
    content.forEach((block, at) => {
      if (!isFields(block)) return;
      this.open(`start ${at}`, block, write, emit);
      this.close(`start ${at}`, emit);
    });
  }

  private open(index: unknown, start: Fields, write: Write, emit: EmitChunk): void {
    // Something follows the call, so it was finished. For the last call the finish reason decides (src/wire/deltas.ts).
    if (this.unfilled !== null) emit(chunkAround(this.unfilled, asLatin1('{}')));
    this.unfilled = null;
    if (start.type === 'redacted_thinking') {
      this.emitReasoning(`"type":"reasoning.encrypted","data":${write(start.data ?? '')}`, emit);
    }
    const type = String(start.type);
    const delta = entryOf(deltaOf, type);
    // A call without a function name cannot be executed.
    if (!delta || (type === 'tool_use' && typeof start.name !== 'string')) {
      this.leftOut.add(index);
      return;
    }
    this.opened = true;
    const block = this.blocks.open(index, {
      type,
      chunk: this.chunkOf(type),
      prefix: `{"type":"content_block_delta","index":${index},"delta":{"type":"${delta.type}","${delta.member}":"`,
      member: delta.member,
      text: '',
      empty: true,
      signature: typeof start.signature === 'string' ? write(start.signature).slice(1, -1) : '',
      input: inputText(start.input, write),
    });
    if (type === 'tool_use') {
      emit(toolCallChunk(this.toolCalls++, write(toolCallId(start.id)), write(start.name)));
    } else if (typeof start[type] === 'string' && start[type] !== '') {
      passOn(block, write(start[type]).slice(1, -1), emit);
    }
  }

  private chunkOf(type: string): ChunkAround {
    if (type === 'tool_use') return argumentsChunk(this.toolCalls);
    return type === 'text' ? contentChunk : reasoningChunk;
  }

  private delta(index: unknown, delta: Fields, write: Write, emit: EmitChunk): void {
    const block = this.blocks.at(index) ?? this.openUnannounced(index, delta, write, emit);
    if (!block) return;
    const text = delta[block.member];
    if (typeof text === 'string') passOn(block, write(text).slice(1, -1), emit);
    if (delta.type === 'signature_delta' && typeof delta.signature === 'string') {
      keepSignature(block, asLatin1(write(delta.signature).slice(1, -1)));
    }
  }

  /** Some servers send no start event. Undefined where the block is left out. */
  private openUnannounced(index: unknown, delta: Fields, write: Write, emit: EmitChunk): Block | undefined {
    const type = this.leftOut.has(index) ? undefined : entryOf(typeOf, String(delta.type));
    if (type !== undefined) this.open(index, { type }, write, emit);
    return this.blocks.at(index);
  }

  /** Clients can only send back a whole block, so its text is sent again, with the signature. */
  private close(index: unknown, emit: EmitChunk): void {
    this.leftOut.delete(index);
    const block = this.blocks.close(index);
    if (!block) return;
    if (block.type === 'tool_use' && block.empty) {
      if (block.input === '') this.unfilled = block.chunk;
      else emit(chunkAround(block.chunk, asLatin1(JSON.stringify(block.input).slice(1, -1))));
    } else if (block.type === 'thinking' && block.text !== null) {
      this.emitReasoning(`"type":"reasoning.text","text":"${block.text}","signature":"${block.signature}"`, emit);
    }
  }

  private emitReasoning(members: string, emit: EmitChunk): void {
    emit(reasoningDetailsChunk(`{${members},"format":"${reasoningFormat}","index":${this.reasonings++}}`));
  }

  /** Only once: both the stop reason and `message_stop` mark the end. */
  private finish(stopReason: unknown, emit: EmitChunk): void {
    if (this.finished) return;
    this.finished = true;
    emit(finishChunk(finishReasonOf(stopReason, this.toolCalls > 0)));
  }

  /**
   * The usage so far, as JSON text; undefined where an event adds nothing to it. Figures are cumulative: a later one replaces an earlier
   * one, and null is ignored. Each is passed on at once, because the stream may end at any event.
   */
  private usageWith(figures: unknown): string | undefined {
    if (!isFields(figures)) return undefined;
    for (const [name, figure] of Object.entries(figures)) if (figure !== null) this.usage[name] = figure;
    const usage = usageOf(this.usage);
    return usage && JSON.stringify(usage);
  }
}

/** The input as JSON text, empty where there is none. Some servers already send text. */
function inputText(input: unknown, write: Write): string {
  if (typeof input === 'string') return JSON.parse(write(input)) as string;
  return isFields(input) && Object.keys(input).length > 0 ? write(input) : '';
}

function passOn(block: Block, inside: Latin1Text, emit: EmitChunk): void {
  if (inside === '') return;
  block.empty = false;
  if (block.type === 'thinking') block.text = keepReasoning(block.text, inside);
  emit(chunkAround(block.chunk, inside));
}

/** The escaped text of a delta that begins as expected. Some servers write spaces before the last braces. */
function textIn(data: Latin1Text, prefix: string): Latin1Text | null {
  const from = prefix.length;
  if (data.slice(0, from) !== prefix) return null;
  let to = data.length - 1;
  for (let braces = 2; braces > 0; to--) {
    const code = data.charCodeAt(to);
    if (code === 0x7d) braces--;
    else if (code !== 0x20) return null;
  }
  if (to < from || data.charCodeAt(to) !== 0x22) return null;
  const inside = data.slice(from, to);
  return isStringInside(inside) ? inside : null;
}
