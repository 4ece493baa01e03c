/**
 * The events of a message as OpenAI's chunks. A delta of the open block is recognised by its beginning and its text is
 * spliced, escapes and all; everything else is parsed. Events that it does not know are ignored.
 */

import {
  argumentsChunk,
  type ChunkAround,
  contentChunk,
  finishChunk,
  reasoningChunk,
  reasoningDetailsChunk,
  roleChunk,
  toolCallChunk,
  usageChunk,
} from '../chat-parts/chunks.js';
import { toolCallId } from '../chat-parts/completion.js';
import { type Fields, isFields } from '../chat-parts/items.js';
import { isStringInside, type ReadEvent, readEvent } from '../chat-parts/json-string.js';
import { keepReasoning } from '../chat-parts/kept-reasoning.js';
import { OpenBlocks } from '../chat-parts/open-blocks.js';
import type { StreamTranslator } from '../dialect.js';
import { reasoningFormat } from './blocks.js';
import { finishReasonOf, usageOf } from './usage.js';

type Emit = (chunk: string) => void;
type Write = ReadEvent['write'];

/** What a block's deltas are called, and which member of them is passed on. */
const deltaOf: Record<string, { type: string; member: string }> = {
  text: { type: 'text_delta', member: 'text' },
  thinking: { type: 'thinking_delta', member: 'thinking' },
  tool_use: { type: 'input_json_delta', member: 'partial_json' },
};

/** The kind of a block that deltas came for without a start. Without the start that names its tool there is no call. */
const typeOf: Record<string, string> = { text_delta: 'text', thinking_delta: 'thinking' };

interface Block {
  type: string;
  chunk: ChunkAround;
  /** How its deltas begin, up to the text. */
  prefix: string;
  member: string;
  /** What has been passed on, as the inside of a JSON string; only kept for thinking, and null where that is too long. */
  text: string | null;
  empty: boolean;
  /** The same of the signature. */
  signature: string;
  /** A tool's input that came whole, as JSON text. */
  input: string;
}

export class MessageStream implements StreamTranslator {
  private readonly blocks = new OpenBlocks<Block>();
  /** Indexes of blocks that have no place in an answer of OpenAI's, as those of tools that run at the provider. */
  private readonly leftOut = new Set<unknown>();
  private toolCalls = 0;
  private reasonings = 0;
  private usage: Fields = {};
  /** The reason to stop that came with the first event, as of an answer that was whole by then. */
  private stopReason: unknown;
  /** A block of the answer has begun. */
  private opened = false;
  private finished = false;
  private told = false;

  onEvent(data: string, event: string, emit: Emit): void {
    const { latest: block } = this.blocks;
    if (block !== null) {
      const inside = textIn(data, block.prefix);
      if (inside !== null) {
        passOn(block, inside, emit);
        return;
      }
    }
    const read = readEvent(data);
    // What is no event of a message, an error above all, is for the relay to judge.
    if (read === null || !isFields(read.value) || read.value.type === 'error' || event === 'error') emit(data);
    else this.parsedEvent(read.value, read.write, data, emit);
  }

  onEnd(emit: Emit): void {
    if (typeof this.stopReason === 'string') this.finish(this.stopReason, emit);
    if (this.finished) this.tellUsage(emit, false);
  }

  private parsedEvent(event: Fields, write: Write, data: string, emit: Emit): void {
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
      case 'message_delta':
        this.noteUsage(event.usage);
        if (isFields(event.delta) && typeof event.delta.stop_reason === 'string') {
          this.finish(event.delta.stop_reason, emit);
        }
        break;
      case 'message_stop':
        // A message of nothing, for no reason, is no answer.
        if (this.opened || typeof this.stopReason === 'string') this.finish(this.stopReason, emit);
        this.tellUsage(emit, true);
        break;
      default:
        if (isFields(event.error)) emit(data);
    }
  }

  /** The message is empty yet, but where it was made without the model, as of a program that calls tools. */
  private start({ model, usage, content, stop_reason }: Fields, write: Write, emit: Emit): void {
    this.noteUsage(usage);
    this.stopReason = stop_reason;
    emit(roleChunk(typeof model === 'string' ? write(model) : undefined));
    if (!Array.isArray(content)) return;
    content.forEach((block, at) => {
      if (!isFields(block)) return;
      this.open(`start ${at}`, block, write, emit);
      this.close(`start ${at}`, emit);
    });
  }

  private open(index: unknown, start: Fields, write: Write, emit: Emit): void {
    if (start.type === 'redacted_thinking') {
      this.tellReasoning(`"type":"reasoning.encrypted","data":${write(start.data ?? '')}`, emit);
    }
    const type = String(start.type);
    const delta = deltaOf[type];
    // A call of nobody knows what cannot be answered.
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
      input: writtenInput(start.input, write),
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

  private delta(index: unknown, delta: Fields, write: Write, emit: Emit): void {
    const block = this.blocks.at(index) ?? this.openUnannounced(index, delta, write, emit);
    if (!block) return;
    const text = delta[block.member];
    if (typeof text === 'string') passOn(block, write(text).slice(1, -1), emit);
    if (delta.type === 'signature_delta' && typeof delta.signature === 'string') {
      block.signature += write(delta.signature).slice(1, -1);
    }
  }

  /** Some servers send no start. undefined where nothing of the block is passed on. */
  private openUnannounced(index: unknown, delta: Fields, write: Write, emit: Emit): Block | undefined {
    const type = this.leftOut.has(index) ? undefined : typeOf[String(delta.type)];
    if (type !== undefined) this.open(index, { type }, write, emit);
    return this.blocks.at(index);
  }

  /** Only a whole block can be given back, so its text comes once more, with the signature. */
  private close(index: unknown, emit: Emit): void {
    this.leftOut.delete(index);
    const block = this.blocks.close(index);
    if (!block) return;
    if (block.type === 'tool_use' && block.empty) {
      emit(block.chunk.before + JSON.stringify(block.input).slice(1, -1) + block.chunk.after);
    } else if (block.type === 'thinking' && block.text !== null) {
      this.tellReasoning(`"type":"reasoning.text","text":"${block.text}","signature":"${block.signature}"`, emit);
    }
  }

  private tellReasoning(members: string, emit: Emit): void {
    emit(reasoningDetailsChunk(`{${members},"format":"${reasoningFormat}","index":${this.reasonings++}}`));
  }

  /** Once only: the end of the message is told by its reason to stop, and by an event of its own. */
  private finish(stopReason: unknown, emit: Emit): void {
    if (this.finished) return;
    this.finished = true;
    emit(finishChunk(finishReasonOf(stopReason, this.toolCalls > 0)));
  }

  /** Figures are cumulative: a later one takes the place of an earlier one, and null says nothing. */
  private noteUsage(usage: unknown): void {
    if (!isFields(usage)) return;
    for (const [name, figure] of Object.entries(usage)) if (figure !== null) this.usage[name] = figure;
  }

  private tellUsage(emit: Emit, done: boolean): void {
    const usage = this.told ? undefined : usageOf(this.usage);
    this.told = true;
    if (usage) emit(usageChunk(JSON.stringify(usage)));
    if (done) emit('[DONE]');
  }
}

/** As JSON text, which some servers write there themselves. */
function writtenInput(input: unknown, write: Write): string {
  if (typeof input === 'string' && input !== '') return JSON.parse(write(input)) as string;
  return isFields(input) ? write(input) : '{}';
}

function passOn(block: Block, inside: string, emit: Emit): void {
  if (inside === '') return;
  block.empty = false;
  if (block.type === 'thinking') block.text = keepReasoning(block.text, inside);
  emit(block.chunk.before + inside + block.chunk.after);
}

/** The text of a delta that begins as expected, still escaped; some servers pad before the last brace. */
function textIn(data: string, prefix: string): string | null {
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
