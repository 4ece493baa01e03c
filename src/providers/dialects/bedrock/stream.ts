/**
 * The events of ConverseStream as OpenAI's chunks. A delta of the open block is recognised by its beginning and its end, and
 * its text is spliced, escapes and all; everything else is parsed. Events that it does not know are ignored.
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
import { isCallersTool } from './answer.js';
import { redactedFormat, signedFormat } from './blocks.js';
import { readName } from './names.js';
import { finishReasonOf, isBrokenOutput, usageOf } from './usage.js';

type Emit = (chunk: string) => void;
type Write = ReadEvent['write'];

interface Block {
  /** Of a tool that runs at the provider nothing is passed on. */
  kind: 'text' | 'tool' | 'provider_tool' | 'reasoning';
  chunk: ChunkAround;
  /** How its deltas begin, up to the text, and what follows that: nothing more, or a padding. */
  prefix: string;
  suffix: string;
  padding: string;
  /** What has been passed on, as the inside of a JSON string; only kept for reasoning, and null where that is too long. */
  text: string | null;
  signature: string;
  empty: boolean;
}

export class ConverseStream implements StreamTranslator {
  private readonly blocks = new OpenBlocks<Block>();
  private toolCalls = 0;
  private reasonings = 0;
  private said = false;

  onEvent(data: string, event: string, emit: Emit): void {
    const { latest: block } = this.blocks;
    if (block !== null && event === 'contentBlockDelta') {
      const inside = textIn(data, block);
      if (inside !== null) {
        this.passOn(block, inside, emit);
        return;
      }
    }
    const read = readEvent(data);
    // An exception, and what is no event of an answer, is for the relay to judge.
    if (read === null || !isFields(read.value) || isFields(read.value.error)) emit(data);
    else this.parsedEvent(event, read.value, read.write, emit);
  }

  onEnd(): void {}

  private parsedEvent(event: string, fields: Fields, write: Write, emit: Emit): void {
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
        this.tellUsage(fields, emit);
        break;
    }
  }

  /** Only tools are certain to have a start. */
  private start({ contentBlockIndex, start }: Fields, write: Write, emit: Emit): void {
    const tool = isFields(start) ? start.toolUse : undefined;
    if (!isFields(tool)) return;
    if (!isCallersTool(tool)) {
      this.open(contentBlockIndex, 'provider_tool');
      return;
    }
    this.open(contentBlockIndex, 'tool');
    this.said = true;
    // The name is ASCII as it comes, so it can be read in the encoding that chunks are written in.
    const name = JSON.stringify(readName(String(tool.name), 'latin1'));
    emit(toolCallChunk(this.toolCalls++, write(toolCallId(tool.toolUseId)), name));
  }

  private open(index: unknown, kind: Block['kind']): Block {
    const { member, braces, chunk = argumentsChunk(this.toolCalls) } = kindsOf[kind];
    const prefix = `{"contentBlockIndex":${index},"delta":{${member}:"`;
    const around = { prefix, suffix: `"${braces}}`, padding: `"${braces},"p":"` };
    return this.blocks.open(index, { kind, chunk, ...around, text: '', signature: '', empty: true });
  }

  private delta(index: unknown, delta: Fields, write: Write, emit: Emit): void {
    const { text, toolUse, reasoningContent } = delta;
    const inside = (value: unknown): string => (typeof value === 'string' ? write(value).slice(1, -1) : '');
    if (typeof text === 'string') this.passOn(this.blockAt(index, 'text'), inside(text), emit);
    if (isFields(toolUse)) {
      const block = this.blocks.at(index);
      // Without the start that names the tool there is no call.
      if (block?.kind === 'tool') this.passOn(block, inside(toolUse.input), emit);
    }
    if (!isFields(reasoningContent)) return;
    const block = this.blockAt(index, 'reasoning');
    this.passOn(block, inside(reasoningContent.text), emit);
    block.signature += inside(reasoningContent.signature);
    const redacted = inside(reasoningContent.redactedContent);
    if (redacted !== '') this.tellReasoning(`"type":"reasoning.encrypted","data":"${redacted}"`, redactedFormat, emit);
  }

  private blockAt(index: unknown, kind: Block['kind']): Block {
    const block = this.blocks.at(index);
    return block?.kind === kind ? block : this.open(index, kind);
  }

  private passOn(block: Block, inside: string, emit: Emit): void {
    if (inside === '' || block.kind === 'provider_tool') return;
    block.empty = false;
    this.said = true;
    if (block.kind === 'reasoning') block.text = keepReasoning(block.text, inside);
    emit(block.chunk.before + inside + block.chunk.after);
  }

  /** Only whole reasoning can be given back, so its text comes once more, with the signature. */
  private close(index: unknown, emit: Emit): void {
    const block = this.blocks.close(index);
    if (!block) return;
    if (block.kind === 'tool' && block.empty) emit(`${block.chunk.before}{}${block.chunk.after}`);
    if (block.signature === '' || block.text === null) return;
    const members = `"type":"reasoning.text","text":"${block.text}","signature":"${block.signature}"`;
    this.tellReasoning(members, signedFormat, emit);
  }

  private tellReasoning(members: string, format: string, emit: Emit): void {
    emit(reasoningDetailsChunk(`{${members},"format":"${format}","index":${this.reasonings++}}`));
  }

  private finish(stopReason: unknown, emit: Emit): void {
    if (!this.said && isBrokenOutput(stopReason)) {
      emit(JSON.stringify({ error: { message: `its answer is empty (${stopReason})`, code: 500 } }));
    } else {
      emit(finishChunk(finishReasonOf(stopReason, this.toolCalls > 0)));
    }
  }

  /** It comes last, after the reason to stop. */
  private tellUsage({ usage, serviceTier }: Fields, emit: Emit): void {
    const told = usageOf(usage, serviceTier);
    if (told) emit(usageChunk(JSON.stringify(told)));
    emit('[DONE]');
  }
}

const kindsOf: Record<Block['kind'], { member: string; braces: string; chunk?: ChunkAround }> = {
  text: { member: '"text"', braces: '}', chunk: contentChunk },
  tool: { member: '"toolUse":{"input"', braces: '}}' },
  provider_tool: { member: '"toolUse":{"input"', braces: '}}' },
  reasoning: { member: '"reasoningContent":{"text"', braces: '}}', chunk: reasoningChunk },
};

/** The text of a delta that looks as expected, still escaped. A member `p` pads it. */
function textIn(data: string, { prefix, suffix, padding }: Block): string | null {
  const from = prefix.length;
  if (data.slice(0, from) !== prefix) return null;
  // Inside a string no quote stands alone, so this cannot be in the text.
  const padded = data.indexOf(padding, from);
  const to = padded === -1 ? data.length - suffix.length : padded;
  // The padding's own last quote is the only one that follows.
  const ends = padded === -1 ? data.slice(to) === suffix : data.indexOf('"', to + padding.length) === data.length - 2;
  if (to < from || !ends || data.charCodeAt(data.length - 1) !== 0x7d) return null;
  const inside = data.slice(from, to);
  return isStringInside(inside) ? inside : null;
}
