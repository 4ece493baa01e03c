/** Writes the events of a response that is made of chat chunks. The closing events repeat what was delivered, so it is kept. */
import { asLatin1, encodeLatin1, type Latin1Text } from '../../base/latin1.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import type { NativeRequest } from '../../wire/chat-request.js';
import { type Chunk, type ChunkIdentity, encodingOf } from '../../wire/chunk.js';
import { ChunkTemplate } from '../../wire/chunk-template.js';
import { type Fields, isFields } from '../body.js';
import type { FrameTemplate, StreamEnding, StreamWriter } from '../door.js';
import { packReasoning } from './packed-reasoning.js';
import {
  callItem,
  echoFor,
  endOf,
  messageItem,
  reasoningItem,
  reasoningPart,
  refusalPart,
  responseText,
  responseUsage,
  textPart,
} from './response-object.js';

type WriteJson = (value: unknown) => string;

/** A refusal is a message of its own. */
type Kind = 'message' | 'refusal' | 'reasoning' | 'call';

/** An item that is being written. */
interface OpenItem {
  readonly kind: Kind;
  readonly index: number;
  readonly id: string;
  /** Of its deltas: the event, and the members that say whose it is. */
  readonly event: string;
  readonly place: string;
  /** What was delivered, as the inside of a JSON string. */
  inside: string;
  /** Of calls: JSON strings. */
  readonly callId: string;
  readonly name: string;
  /** Of reasoning: what the provider wants back. */
  packed: string | null;
}

const deltaEvents = {
  message: 'response.output_text.delta',
  refusal: 'response.refusal.delta',
  reasoning: 'response.reasoning_text.delta',
  call: 'response.function_call_arguments.delta',
} as const;

const partWriters = { message: textPart, refusal: refusalPart, reasoning: reasoningPart };
const prefixes = { message: 'msg', refusal: 'msg', reasoning: 'rs', call: 'fc' } as const;

/** The error event of a stream. */
export function errorEvent({ row, message, param }: GatewayError, sequence: number): string {
  const fields = { type: 'error', code: row.code ?? null, message, param: param ?? null, sequence_number: sequence };
  return `event: error\ndata: ${encodeLatin1(JSON.stringify(fields))}\n\n`;
}

export class ResponseStreamWriter implements StreamWriter {
  private sequence = 0;
  private begun = false;
  private generation = '';
  /** What the responses of the stream repeat of the request. */
  private echo = '';
  private readonly done: string[] = [];
  /** The item that text goes to. */
  private open: OpenItem | null = null;
  /** Calls, by their index in the chunks: their pieces may come in turns. */
  private readonly calls = new Map<unknown, OpenItem>();
  private items = 0;

  constructor(private readonly request: NativeRequest) {}

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
    const kind = learnt.isReasoning ? 'reasoning' : 'message';
    return {
      // A frame that opens an item must be parsed.
      textIn: (text, start, end) => (this.open?.kind === kind ? learnt.textIn(text, start, end) : null),
      write: (inside) => asLatin1(this.delta(this.open!, inside)),
    };
  }

  writeEnd(ending: StreamEnding, as: ChunkIdentity): Latin1Text {
    const { end, finishFrames, usage, metadata, firstMetadata } = ending;
    let out = this.begun ? '' : this.begin(as, firstMetadata);
    for (const frame of finishFrames) out += this.writeFrame(frame, as);
    const finish = finishFrames.flatMap(({ choices = [] }) => choices).find(({ finish_reason }) => finish_reason);
    const { status, reason } =
      end === 'complete'
        ? endOf((finish?.finish_reason as string) ?? null)
        : { status: 'incomplete' as const, reason: end };
    const itemStatus = status === 'completed' ? 'completed' : 'incomplete';
    out += this.closeText(itemStatus) + this.closeCalls(itemStatus);
    const { id, created, model } = as;
    const response = responseText(
      { echo: this.echo },
      {
        ...{ id, created, model, status, reason, output: this.done, usage: responseUsage(usage), metadata },
      },
    );
    return asLatin1(out + this.event(`response.${status}`, `"response":${response}`));
  }

  writeError(error: GatewayError): Latin1Text {
    return asLatin1(errorEvent(error, this.sequence++));
  }

  private begin({ id, created, model }: ChunkIdentity, metadata: string | undefined): string {
    this.begun = true;
    this.generation = id;
    this.echo = echoFor(this.request, metadata);
    const parts = { id, created, model, status: 'in_progress', output: [] } as const;
    return (
      this.event('response.created', `"response":${responseText({ echo: this.echo }, { ...parts, metadata })}`) +
      this.event('response.in_progress', `"response":${responseText({ echo: this.echo }, parts)}`)
    );
  }

  private event(type: string, members: string): string {
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.sequence++},${members}}\n\n`;
  }

  private writeDelta(delta: Fields, write: WriteJson): string {
    let out = '';
    const reasoning = delta.reasoning_content ?? delta.reasoning;
    if (isText(reasoning)) out += this.enter('reasoning') + this.delta(this.open!, write(reasoning).slice(1, -1));
    if (Array.isArray(delta.reasoning_details)) out += this.keepDetails(delta.reasoning_details, write);
    const { content, refusal } = delta;
    if (isText(content)) out += this.enter('message') + this.delta(this.open!, write(content).slice(1, -1));
    if (isText(refusal)) out += this.enter('refusal') + this.delta(this.open!, write(refusal).slice(1, -1));
    for (const call of Array.isArray(delta.tool_calls) ? delta.tool_calls : []) {
      if (isFields(call)) out += this.writeCall(call, write);
    }
    return out;
  }

  /** What is signed, or only the provider can read, goes back to it with the item. */
  private keepDetails(details: unknown[], write: WriteJson): string {
    const signed = details.filter((each) => isFields(each) && (isText(each.signature) || isText(each.data)));
    if (!this.request.keepsReasoning || signed.length === 0) return '';
    const out = this.enter('reasoning', false);
    this.open!.packed = packReasoning(write(signed));
    return out + this.closeText('completed');
  }

  private writeCall(call: Fields, write: WriteJson): string {
    const { name, arguments: text } = isFields(call.function) ? call.function : {};
    let out = '';
    let item = this.calls.get(call.index);
    if (item === undefined) {
      out += this.closeText('completed');
      item = this.newItem('call', write(call.id ?? ''), write(name ?? ''));
      this.calls.set(call.index, item);
      out += this.added(item, callItem(this.request, { ...item, status: 'in_progress' }));
    }
    return isText(text) ? out + this.delta(item, write(text).slice(1, -1)) : out;
  }

  private newItem(kind: Kind, callId = '', name = ''): OpenItem {
    const index = this.items++;
    const id = `${prefixes[kind]}_${this.generation}_${index}`;
    const place = `"item_id":"${id}","output_index":${index}${kind === 'call' ? '' : ',"content_index":0'}`;
    return { kind, index, id, event: deltaEvents[kind], place, inside: '', callId, name, packed: null };
  }

  private added({ index }: OpenItem, item: string): string {
    return this.event('response.output_item.added', `"output_index":${index},"item":${item}`);
  }

  /** Clients need the part before its first delta. Reasoning that only the provider can read has none. */
  private enter(kind: Exclude<Kind, 'call'>, withPart = true): string {
    if (this.open?.kind === kind) return '';
    const before = this.closeText('completed') + this.closeCalls('completed');
    const item = this.newItem(kind);
    this.open = item;
    const begun =
      kind === 'reasoning' ? reasoningItem(item.id, 'in_progress', '', null) : messageItem(item.id, 'in_progress', []);
    const opened = before + this.added(item, begun);
    if (!withPart) return opened;
    const part = partWriters[kind]('');
    return opened + this.event('response.content_part.added', `${item.place},"part":${part}`);
  }

  private delta(item: OpenItem, inside: string): string {
    item.inside += inside;
    const logprobs = item.kind === 'message' ? ',"logprobs":[]' : '';
    return this.event(item.event, `${item.place},"delta":"${inside}"${logprobs}`);
  }

  private closeText(status: 'completed' | 'incomplete'): string {
    const { open } = this;
    this.open = null;
    if (open === null) return '';
    const { kind, id, place, inside, packed } = open;
    if (kind === 'reasoning') {
      const text =
        inside === ''
          ? ''
          : this.event('response.reasoning_text.done', `${place},"text":"${inside}"`) +
            this.event('response.content_part.done', `${place},"part":${reasoningPart(inside)}`);
      return text + this.itemDone(open, reasoningItem(id, status, inside, packed));
    }
    const part = kind === 'refusal' ? refusalPart(inside) : textPart(inside);
    const done =
      kind === 'refusal'
        ? this.event('response.refusal.done', `${place},"refusal":"${inside}"`)
        : this.event('response.output_text.done', `${place},"text":"${inside}","logprobs":[]`);
    return (
      done +
      this.event('response.content_part.done', `${place},"part":${part}`) +
      this.itemDone(open, messageItem(id, status, [part]))
    );
  }

  private closeCalls(status: 'completed' | 'incomplete'): string {
    let out = '';
    for (const item of this.calls.values()) {
      if (this.done[item.index] !== undefined) continue;
      out += this.event(
        'response.function_call_arguments.done',
        `${item.place},"name":${item.name},"arguments":"${item.inside}"`,
      );
      out += this.itemDone(item, callItem(this.request, { ...item, status }));
    }
    return out;
  }

  private itemDone({ index }: OpenItem, item: string): string {
    this.done[index] = item;
    return this.event('response.output_item.done', `"output_index":${index},"item":${item}`);
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
