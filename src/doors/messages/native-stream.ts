/** Passes on the events of a message from a provider that speaks the API, and writes what Lodestone adds to them. */
import { asLatin1, encodeLatin1, type Latin1Text } from '../../base/latin1.js';
import { envelopeOf } from '../../errors/envelope.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import type { Chunk, ChunkIdentity } from '../../wire/chunk.js';
import { memberText, withMembers } from '../../wire/splice-members.js';
import type { BilledUsage, FrameTemplate, StreamEnding, StreamWriter } from '../door.js';
import { passedTemplate } from '../native-answer.js';
import { nativeUsage } from './message-usage.js';

export function eventText(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`;
}

const types: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  451: 'permission_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** The body of an error, in Anthropic's envelope. */
export function messagesError(error: GatewayError, requestId: string): string {
  const { status } = error;
  const type = types[status] ?? (status >= 400 && status < 500 ? 'invalid_request_error' : 'api_error');
  return JSON.stringify({ type: 'error', error: { ...envelopeOf(error).error, type }, request_id: requestId });
}

const typeOf = /^\s*\{\s*"type"\s*:\s*"([a-z_]+)"/;
/** Stands for the model in events that come before it is known. No JSON text contains it. */
const unknownModel = '\0';
const indexOf = /"index"\s*:\s*(\d+)/;
/** An upstream may send events without content for ever; those over the bound say nothing that a client needs. */
const earlyCharactersMax = 64 * 1024;
/** So may deltas that bring nothing, such as signatures; whole blocks, such as results of a search, have no bound but their size. */
const earlyDeltasMax = 256 * 1024;
/** So may be the number of last events: earlier ones are dropped. */
const finalMax = 4;

export class NativeMessageStream implements StreamWriter {
  /** The first event, until it is written with what Lodestone adds to it. */
  private start: Latin1Text | null = null;
  private begun = false;
  /** Events that belong before or to the next chunk. */
  private pending = '';
  /** The last events, which wait for the bill. */
  private final: { type: string; data: string }[] = [];
  private readonly open = new Set<string>();
  /** A second message has begun: its first event has to be given the model, as JSON text. */
  private restarted = false;
  private model = unknownModel;

  takeEvent(data: Latin1Text, event: string): void {
    const type = typeOf.exec(data.slice(0, 64))?.[1] ?? (event || writtenType(data));
    switch (type) {
      case 'content_block_delta':
        if (this.begun || this.pending.length < earlyDeltasMax) this.pending += eventText(type, data);
        break;
      case 'message_start':
        if (this.start === null && !this.begun) this.start = data;
        else {
          this.restarted = true;
          this.pending += startText(data, { model: unknownModel });
        }
        break;
      case 'content_block_start':
      case 'content_block_stop': {
        const index = indexOf.exec(data)?.[1] ?? '0';
        if (type === 'content_block_start') this.open.add(index);
        else this.open.delete(index);
        this.pending += eventText(type, data);
        break;
      }
      case 'message_delta':
      case 'message_stop':
        this.final.push({ type, data });
        if (this.final.length > finalMax) this.final.shift();
        break;
      case 'error':
        break;
      default:
        if (this.begun || this.pending.length < earlyCharactersMax) this.pending += eventText(type || 'ping', data);
    }
  }

  writeFrame(_: Chunk, as: ChunkIdentity, metadata?: string): Latin1Text {
    return asLatin1(this.take(as, metadata));
  }

  templateFor(data: Latin1Text, as: ChunkIdentity): FrameTemplate | null {
    return passedTemplate(data, as, (metadata) => this.take(as, metadata));
  }

  flush(): string {
    const { pending } = this;
    this.pending = '';
    return this.restarted ? pending.replaceAll(unknownModel, this.model) : pending;
  }

  writeEnd(ending: StreamEnding, as: ChunkIdentity): Latin1Text {
    const isComplete = ending.end === 'complete';
    const deltas = isComplete ? this.final.filter(({ type }) => type === 'message_delta') : [];
    const last = deltas.pop()?.data;
    // An answer that was complete in its first event has no other event for the bill.
    const billsStart = isComplete && last === undefined && !this.begun && this.start !== null;
    let out = this.take(as, ending.firstMetadata, billsStart ? ending.usage : undefined);
    if (!isComplete) {
      for (const index of this.open) {
        out += eventText('content_block_stop', `{"type":"content_block_stop","index":${index}}`);
      }
    }
    for (const { data } of deltas) out += eventText('message_delta', data);
    if (!billsStart) {
      const delta = last ?? this.deltaOf(isComplete);
      const usage = nativeUsage(memberText(delta, 'usage'), ending.usage);
      out += eventText('message_delta', withMembers(delta, { usage }));
    }
    const stop = this.final.find(({ type }) => type === 'message_stop')?.data ?? '{"type":"message_stop"}';
    return asLatin1(out + eventText('message_stop', withMembers(stop, { router_metadata: ending.metadata })));
  }

  writeError(error: GatewayError, requestId: string): Latin1Text {
    return asLatin1(eventText('error', encodeLatin1(messagesError(error, requestId))));
  }

  /** For a provider that sent none. A reason that the first event gave stays. */
  private deltaOf(isComplete: boolean): string {
    const message = isComplete && this.start !== null ? (memberText(this.start, 'message') ?? '{}') : '{}';
    const member = (name: string): string => `"${name}":${memberText(message, name) ?? 'null'}`;
    return `{"type":"message_delta","delta":{${member('stop_reason')},${member('stop_sequence')}}}`;
  }

  /** `billed` is the usage where the first event has to carry it. */
  private take({ model: id }: ChunkIdentity, metadata: string | undefined, billed?: BilledUsage): string {
    if (this.begun) return this.flush();
    this.begun = true;
    this.model = `"${id}"`;
    if (this.start === null) return this.flush();
    const message = memberText(this.start, 'message') ?? '{}';
    const changes = {
      model: this.model,
      ...(billed && { usage: nativeUsage(memberText(message, 'usage'), billed) }),
      ...(metadata !== undefined && { router_metadata: metadata }),
    };
    return startText(this.start, changes) + this.flush();
  }
}

function startText(data: string, changes: Readonly<Record<string, string>>): string {
  const message = memberText(data, 'message') ?? '{}';
  return eventText('message_start', withMembers(data, { message: withMembers(message, changes) }));
}

/** The type of an event that has no name and does not begin with it. */
export function writtenType(data: string): string {
  const type = memberText(data, 'type');
  return type?.startsWith('"') ? type.slice(1, -1) : '';
}
