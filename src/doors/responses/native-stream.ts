/** Passes on the events of a response from a provider that speaks the API, and writes what Lodestone adds to them. */
import { asLatin1, type Latin1Text } from '../../base/latin1.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import type { Chunk, ChunkIdentity } from '../../wire/chunk.js';
import { memberText, withMembers } from '../../wire/splice-members.js';
import type { FrameTemplate, StreamEnding, StreamWriter } from '../door.js';
import { writtenType } from '../messages/native-stream.js';
import { passedTemplate } from '../native-answer.js';
import { OpenItems } from './open-items.js';
import { nativeUsage } from './response-object.js';
import { errorEvent } from './write-stream.js';

const typeOf = /^\s*\{\s*"type"\s*:\s*"([a-z_.]+)"/;
const sequenceOf = /"sequence_number"\s*:\s*(\d+)/;
/** An upstream may send events without content for ever; those over the bound say nothing that a client needs. */
const earlyCharactersMax = 256 * 1024;
const headsMax = 4;

export class NativeResponseStream implements StreamWriter {
  private begun = false;
  /** The first event, until it is written with what Lodestone adds to it. */
  private start: string | null = null;
  /** Events that name the provider's model, until the route is known to be committed. */
  private heads: { type: string; data: string }[] = [];
  private pending = '';
  private final: { type: string; data: string } | null = null;
  /** The number of the next event. */
  private sequence = 0;
  private readonly items = new OpenItems();

  takeEvent(data: Latin1Text, event: string): void {
    const type = event || (typeOf.exec(data)?.[1] ?? writtenType(data));
    switch (type) {
      case 'response.created':
        this.start = data;
        this.count(data);
        break;
      case 'response.in_progress':
      case 'response.queued':
        if (this.heads.length === headsMax) break;
        this.heads.push({ type, data });
        this.count(data);
        break;
      case 'response.completed':
      case 'response.incomplete':
        this.final = { type, data };
        break;
      case 'response.failed':
      case 'error':
        break;
      default:
        this.items.take(type, data);
        if (!this.begun && this.pending.length >= earlyCharactersMax) break;
        this.pending += eventText(type, data);
        this.count(data);
    }
  }

  /** Only events that the client gets count: one that the gateway replaces leaves its number to the replacement. */
  private count(data: string): void {
    const sequence = sequenceOf.exec(data)?.[1];
    if (sequence !== undefined) this.sequence = Number(sequence) + 1;
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
    return pending;
  }

  writeEnd(ending: StreamEnding, as: ChunkIdentity): Latin1Text {
    const out = this.take(as, ending.firstMetadata);
    const common = { model: `"${as.model}"`, router_metadata: ending.metadata };
    if (ending.end === 'complete' && this.final) {
      const { type, data } = this.final;
      const response = memberText(data, 'response') ?? '{}';
      const usage = nativeUsage(memberText(response, 'usage'), ending.usage);
      return asLatin1(
        out + eventText(type, withMembers(data, { response: withMembers(response, { ...common, usage }) })),
      );
    }
    const closed = this.items.close(this.sequence);
    const created = this.start === null ? '{}' : (memberText(this.start, 'response') ?? '{}');
    const response = withMembers(created, {
      ...common,
      status: '"incomplete"',
      incomplete_details: `{"reason":"${ending.end === 'complete' ? 'cut' : ending.end}"}`,
      output: `[${this.items.all.join(',')}]`,
      usage: nativeUsage(undefined, ending.usage),
    });
    const last = `{"type":"response.incomplete","sequence_number":${closed.sequence},"response":${response}}`;
    return asLatin1(out + closed.events + eventText('response.incomplete', last));
  }

  writeError(error: GatewayError): Latin1Text {
    return asLatin1(errorEvent(error, this.sequence));
  }

  private take({ model }: ChunkIdentity, metadata: string | undefined): string {
    let out = '';
    if (!this.begun) {
      this.begun = true;
      const receipt: Record<string, string> = metadata === undefined ? {} : { router_metadata: metadata };
      if (this.start !== null)
        out += eventText('response.created', withResponse(this.start, { model: `"${model}"`, ...receipt }));
    }
    for (const { type, data } of this.heads.splice(0)) {
      out += eventText(type, withResponse(data, { model: `"${model}"` }));
    }
    return out + this.flush();
  }
}

function withResponse(data: string, changes: Readonly<Record<string, string>>): string {
  const response = memberText(data, 'response');
  return response === undefined ? data : withMembers(data, { response: withMembers(response, changes) });
}

function eventText(type: string, data: string): string {
  return `event: ${type}\ndata: ${data}\n\n`;
}
