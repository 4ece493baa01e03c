/**
 * Translates the events of ConverseStream to OpenAI chunks. A delta of the open block is recognised by its beginning and end, and
 * its text is copied with its escapes; all other events are parsed. Unknown events are ignored.
 */
import { asLatin1, encodeLatin1, type Latin1Text } from '../../../base/latin1.js';
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
import { isClientTool } from './answer.js';
import { redactedFormat, signedFormat } from './blocks.js';
import { decodedName } from './names.js';
import { finishReasonOf, isBrokenOutput, usageOf } from './usage.js';

type Write = ReadEvent['write'];

interface Block {
  /** Nothing of a `provider_tool`, which runs at the provider, is passed on. */
  kind: 'text' | 'tool' | 'provider_tool' | 'reasoning';
  chunk: ChunkAround;
  /** The beginning of its deltas, up to the text, and the two possible ends: without and with padding. */
  prefix: string;
  suffix: string;
  padding: string;
  /** The text so far, as the inside of a JSON string; only kept for reasoning, and null where that is too long. */
  text: string | null;
  signature: string;
  empty: boolean;
}

export class ConverseStream implements StreamTranslator {
  private readonly blocks = new OpenBlocks<Block>();
  private toolCalls = 0;
  /** The last call, where its block ended without arguments: it may have been cut off. */
  private unfilled: ChunkAround | null = null;
  private reasonings = 0;
  private hasContent = false;

  onEvent(data: Latin1Text, event: string, emit: EmitChunk): void {
    const { latest: block } = this.blocks;
    if (block !== null && event === 'contentBlockDelta') {
      const inside = textIn(data, block);
      if (inside !== null) {
        this.passOn(block, inside, emit);
        return;
      }
    }
    const read = readEvent(data);
    // Exceptions, and anything that is not an event, are for the relay to judge.
    if (read === null || !isFields(read.value) || isFields(read.value.error)) emit(data);
    else this.parsedEvent(event, read.value, read.write, emit);
  }

  onEnd(): void {}

  private parsedEvent(event: string, fields: Fields, write: Write, emit: EmitChunk): void {
    switch (event) {
      case 'messageStart':
        emit(roleChunk());
        break;
      case 'contentBlockStart':
        this.start(fields, write, emit);
        break;
      case 'contentBlockDelta':
        if (isFields(fields.delta)) this.delta(fields.contentBlockIndex, fields.delta, write, emit);
        break;
      case 'contentBlockStop':
        this.close(fields.contentBlockIndex, emit);
        break;
      case 'messageStop':
        this.finish(fields.stopReason, emit);
        break;
      case 'metadata':
        this.emitUsage(fields, emit);
        break;
    }
  }

  /** Only tools always have a start event. */
  private start({ contentBlockIndex, start }: Fields, write: Write, emit: EmitChunk): void {
    const tool = isFields(start) ? start.toolUse : undefined;
    if (!isFields(tool)) return;
    if (!isClientTool(tool)) {
      this.open(contentBlockIndex, 'provider_tool', emit);
      return;
    }
    this.open(contentBlockIndex, 'tool', emit);
    this.hasContent = true;
    // The encoded name is ASCII, so it can be decoded directly to the encoding of the chunks.
    const name = JSON.stringify(decodedName(String(tool.name), 'latin1'));
    emit(toolCallChunk(this.toolCalls++, write(toolCallId(tool.toolUseId)), name));
  }

  private open(index: unknown, kind: Block['kind'], emit: EmitChunk): Block {
    // Something follows the call, so it was finished. For the last call the finish reason decides (src/wire/deltas.ts).
    if (this.unfilled !== null) emit(chunkAround(this.unfilled, asLatin1('{}')));
    this.unfilled = null;
    const { member, braces, chunk = argumentsChunk(this.toolCalls) } = kindsOf[kind];
    const prefix = `{"contentBlockIndex":${index},"delta":{${member}:"`;
    const around = { prefix, suffix: `"${braces}}`, padding: `"${braces},"p":"` };
    return this.blocks.open(index, { kind, chunk, ...around, text: '', signature: '', empty: true });
  }

  private delta(index: unknown, delta: Fields, write: Write, emit: EmitChunk): void {
    const { text, toolUse, reasoningContent } = delta;
    const inside = (value: unknown) => (typeof value === 'string' ? write(value).slice(1, -1) : asLatin1(''));
    if (typeof text === 'string') this.passOn(this.blockAt(index, 'text', emit), inside(text), emit);
    if (isFields(toolUse)) {
      const block = this.blocks.at(index);
      // Without the start event, which names the tool, there is no call.
      if (block?.kind === 'tool') this.passOn(block, inside(toolUse.input), emit);
    }
    if (!isFields(reasoningContent)) return;
    const block = this.blockAt(index, 'reasoning', emit);
    this.passOn(block, inside(reasoningContent.text), emit);
    keepSignature(block, inside(reasoningContent.signature));
    const redacted = inside(reasoningContent.redactedContent);
    if (redacted !== '') this.emitReasoning(`"type":"reasoning.encrypted","data":"${redacted}"`, redactedFormat, emit);
  }

  private blockAt(index: unknown, kind: Block['kind'], emit: EmitChunk): Block {
    const block = this.blocks.at(index);
    return block?.kind === kind ? block : this.open(index, kind, emit);
  }

  private passOn(block: Block, inside: Latin1Text, emit: EmitChunk): void {
    if (inside === '' || block.kind === 'provider_tool') return;
    block.empty = false;
    this.hasContent = true;
    if (block.kind === 'reasoning') block.text = keepReasoning(block.text, inside);
    emit(chunkAround(block.chunk, inside));
  }

  /** Clients can only send back whole reasoning, so its text is sent again, with the signature. */
  private close(index: unknown, emit: EmitChunk): void {
    const block = this.blocks.close(index);
    if (!block) return;
    if (block.kind === 'tool' && block.empty) this.unfilled = block.chunk;
    if (block.signature === '' || block.text === null) return;
    const members = `"type":"reasoning.text","text":"${block.text}","signature":"${block.signature}"`;
    this.emitReasoning(members, signedFormat, emit);
  }

  private emitReasoning(members: string, format: string, emit: EmitChunk): void {
    emit(reasoningDetailsChunk(`{${members},"format":"${format}","index":${this.reasonings++}}`));
  }

  private finish(stopReason: unknown, emit: EmitChunk): void {
    if (!this.hasContent && isBrokenOutput(stopReason)) {
      emit(encodeLatin1(JSON.stringify({ error: { message: `its answer is empty (${stopReason})`, code: 500 } })));
    } else {
      emit(finishChunk(finishReasonOf(stopReason, this.toolCalls > 0)));
    }
  }

  /** Usage comes last, after the stop reason. */
  private emitUsage({ usage, serviceTier }: Fields, emit: EmitChunk): void {
    const translated = usageOf(usage, serviceTier);
    if (translated) emit(usageChunk(JSON.stringify(translated)));
    emit(doneChunk);
  }
}

const kindsOf: Record<Block['kind'], { member: string; braces: string; chunk?: ChunkAround }> = {
  text: { member: '"text"', braces: '}', chunk: contentChunk },
  tool: { member: '"toolUse":{"input"', braces: '}}' },
  provider_tool: { member: '"toolUse":{"input"', braces: '}}' },
  reasoning: { member: '"reasoningContent":{"text"', braces: '}}', chunk: reasoningChunk },
};

/** The escaped text of a delta that has the expected shape. A member `p` is padding. */
function textIn(data: Latin1Text, { prefix, suffix, padding }: Block): Latin1Text | null {
  const from = prefix.length;
  if (data.slice(0, from) !== prefix) return null;
  // The text is escaped, so it cannot contain this sequence.
  const padded = data.indexOf(padding, from);
  const to = padded === -1 ? data.length - suffix.length : padded;
  // The closing quote of the padding must be the only quote that follows.
  const ends = padded === -1 ? data.slice(to) === suffix : data.indexOf('"', to + padding.length) === data.length - 2;
  if (to < from || !ends || data.charCodeAt(data.length - 1) !== 0x7d) return null;
  const inside = data.slice(from, to);
  return isStringInside(inside) ? inside : null;
}
