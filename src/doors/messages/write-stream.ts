/** Writes the events of a message that is made of chat chunks: one block after the other, each opened, filled and closed. */
import { asLatin1, encodeLatin1, type Latin1Text } from '../../base/latin1.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import { type Chunk, type ChunkIdentity, encodingOf } from '../../wire/chunk.js';
import { ChunkTemplate } from '../../wire/chunk-template.js';
import { type Fields, isFields } from '../body.js';
import type { FrameTemplate, StreamEnding, StreamWriter } from '../door.js';
import { messageUsage } from './message-usage.js';
import { eventText, messagesError } from './native-stream.js';
import { stopReasonOf } from './write-answer.js';

type Kind = 'text' | 'thinking' | 'tool_use';

interface OpenBlock {
  readonly kind: Kind;
  readonly index: number;
  /** What comes before the text of a delta. */
  readonly before: string;
}

const members: Record<Kind, readonly [delta: string, member: string]> = {
  text: ['text_delta', 'text'],
  thinking: ['thinking_delta', 'thinking'],
  tool_use: ['input_json_delta', 'partial_json'],
};

const emptyThinking = '{"type":"thinking","thinking":"","signature":""}';

type WriteJson = (value: unknown) => string;

export class MessageStreamWriter implements StreamWriter {
  /** The block that deltas go to; null between blocks. */
  open: OpenBlock | null = null;
  private begun = false;
  private blocks = 0;
  /** Blocks of tool calls, by their index in the chunks. */
  private readonly calls = new Map<unknown, OpenBlock>();
  private called = false;

  writeFrame(chunk: Chunk, as: ChunkIdentity, metadata?: string): Latin1Text {
    const write: WriteJson =
      encodingOf(chunk) === 'utf8' ? (value) => encodeLatin1(JSON.stringify(value)) : (value) => JSON.stringify(value);
    let out = this.begun ? '' : this.begin(as, metadata);
    for (const { index, delta } of chunk.choices ?? []) {
      if ((index ?? 0) === 0 && delta) out += this.writeDelta(delta as Fields, write);
    }
    return asLatin1(out);
  }

  templateFor(data: Latin1Text, as: ChunkIdentity): FrameTemplate | null {
    const learnt = ChunkTemplate.learn(data, as);
    if (learnt === null) return null;
    const kind = learnt.isReasoning ? 'thinking' : 'text';
    return {
      // A frame that opens a block must be parsed.
      textIn: (text, start, end) => (this.open?.kind === kind ? learnt.textIn(text, start, end) : null),
      write: (inside) => asLatin1(`${this.open!.before}${inside}"}}\n\n`),
    };
  }

  writeEnd(ending: StreamEnding, as: ChunkIdentity): Latin1Text {
    const { end, finishFrames, usage, metadata, firstMetadata } = ending;
    let out = this.begun ? '' : this.begin(as, firstMetadata);
    for (const frame of finishFrames) out += this.writeFrame(frame, as);
    out += this.close();
    const finish = finishFrames.flatMap(({ choices = [] }) => choices).find(({ finish_reason }) => finish_reason);
    const given = (finish?.finish_reason as string) ?? null;
    // A complete stream without a reason gets none; that it called a tool is known all the same.
    const reason = end === 'complete' && (given !== null || this.called) ? stopReasonOf(given, this.called) : null;
    return asLatin1(
      out +
        eventText(
          'message_delta',
          `{"type":"message_delta","delta":{"stop_reason":${JSON.stringify(reason)},"stop_sequence":null},"usage":${messageUsage(usage)}}`,
        ) +
        eventText('message_stop', `{"type":"message_stop","router_metadata":${metadata}}`),
    );
  }

  writeError(error: GatewayError, requestId: string): Latin1Text {
    return asLatin1(eventText('error', encodeLatin1(messagesError(error, requestId))));
  }

  private begin({ id, model }: ChunkIdentity, metadata: string | undefined): string {
    this.begun = true;
    const head = { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null };
    // The figures are not known yet; those of the last event replace them.
    const usage = ',"usage":{"input_tokens":0,"output_tokens":0}';
    const receipt = metadata === undefined ? '' : `,"router_metadata":${metadata}`;
    return eventText(
      'message_start',
      `{"type":"message_start","message":${JSON.stringify(head).slice(0, -1)}${usage}${receipt}}}`,
    );
  }

  private writeDelta(delta: Fields, write: WriteJson): string {
    let out = '';
    const reasoning = delta.reasoning_content ?? delta.reasoning;
    if (isText(reasoning)) {
      out += this.enter('thinking', emptyThinking) + this.text(write(reasoning));
    }
    if (Array.isArray(delta.reasoning_details)) {
      for (const each of delta.reasoning_details) if (isFields(each)) out += this.writeDetail(each, write);
    }
    for (const text of [delta.content, delta.refusal]) {
      if (isText(text)) out += this.enter('text', '{"type":"text","text":""}') + this.text(write(text));
    }
    if (Array.isArray(delta.tool_calls)) {
      for (const call of delta.tool_calls) if (isFields(call)) out += this.writeCall(call, write);
    }
    return out;
  }

  /** The signature of the thinking that was streamed, or thinking that only the provider can read. */
  private writeDetail({ text, signature, data }: Fields, write: WriteJson): string {
    // Thinking whose text is not shown has no other delta.
    const opened = isText(signature) && text === '' ? this.enter('thinking', emptyThinking) : '';
    if (isText(signature) && this.open?.kind === 'thinking') {
      const delta = `{"type":"content_block_delta","index":${this.open.index},"delta":{"type":"signature_delta","signature":${write(signature)}}}`;
      return opened + eventText('content_block_delta', delta) + this.close();
    }
    if (!isText(data)) return '';
    return (
      this.close() + this.enterBlock('thinking', `{"type":"redacted_thinking","data":${write(data)}}`) + this.close()
    );
  }

  private writeCall(call: Fields, write: WriteJson): string {
    const { name, arguments: text } = isFields(call.function) ? call.function : {};
    let out = '';
    if (!this.calls.has(call.index)) {
      this.called = true;
      out += this.close();
      const block = `{"type":"tool_use","id":${write(call.id ?? '')},"name":${write(name ?? '')},"input":{}}`;
      out += this.enterBlock('tool_use', block);
      this.calls.set(call.index, this.open!);
    }
    // Pieces of several calls may come in turns.
    if (isText(text)) out += `${this.calls.get(call.index)!.before}${write(text).slice(1, -1)}"}}\n\n`;
    return out;
  }

  private enter(kind: Kind, block: string): string {
    return this.open?.kind === kind ? '' : this.close() + this.enterBlock(kind, block);
  }

  private enterBlock(kind: Kind, block: string): string {
    const index = this.blocks++;
    const [delta, member] = members[kind];
    const before = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${delta}","${member}":"`;
    this.open = { kind, index, before };
    return eventText('content_block_start', `{"type":"content_block_start","index":${index},"content_block":${block}}`);
  }

  private text(json: string): string {
    return `${this.open!.before}${json.slice(1, -1)}"}}\n\n`;
  }

  private close(): string {
    const { open } = this;
    this.open = null;
    return open ? eventText('content_block_stop', `{"type":"content_block_stop","index":${open.index}}`) : '';
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
