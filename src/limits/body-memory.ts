/**
 * Bounds the memory that request bodies hold. A body counts by the bytes that have arrived, so that a client that announces
 * much and sends nothing takes nothing from others. A body that would exceed the bound is refused, also in the middle.
 */
import { type Member, MemberList } from '../base/collections.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';

/** The share that one account may take, so that three others can still send. */
const ownerShare = 1 / 4;

/** The cost of a chunk besides its bytes: a body in chunks of one byte holds far more than its length. */
const chunkOverheadBytes = 256;

const sweepsToStall = 6;

export interface BodyMemoryOptions {
  bytesMax: number;
  /** A body is refused when nothing has arrived for this long. */
  stallMs?: number;
}

/** The request whose body is being received. */
interface Source {
  /** Whether the whole body has arrived. */
  readonly complete: boolean;
}

/** The bytes that one owner's bodies hold. */
interface OwnerBytes {
  held: number;
}

export class BodyMemory {
  readonly bytesMax: number;
  private readonly ownerBytesMax: number;
  private held = 0;
  /** Owners without bytes stay until the next sweep: most of them send again soon. */
  private readonly owners = new Map<string, OwnerBytes>();
  private readonly receiving = new MemberList<BodyHold>();
  private refusal: (() => GatewayError) | null = null;
  private readonly sweeper: NodeJS.Timeout;

  constructor({ bytesMax, stallMs = 30_000 }: BodyMemoryOptions) {
    this.bytesMax = bytesMax;
    this.ownerBytesMax = Math.floor(bytesMax * ownerShare);
    this.sweeper = setInterval(() => this.sweep(), stallMs / sweepsToStall).unref();
  }

  get heldBytes(): number {
    return this.held;
  }

  /** Throws body_memory_full where a body of this length does not fit now; null where its length is not known. */
  check(owner: string, length: number | null): void {
    const refusal = length === 0 ? null : this.refusalFor(this.owners.get(owner)?.held ?? 0, length ?? 1);
    if (refusal) throw refusal;
  }

  /** `owner` is the account that sends the body, or a common name for all clients without an account. */
  open(owner: string): BodyHold {
    return new BodyHold(this, owner);
  }

  /** Refuses every body that has not arrived in full, now and later. */
  refuseUnfinished(refusal: () => GatewayError): void {
    this.refusal = refusal;
    for (const body of this.receiving.all()) body.refuseUnfinished(refusal());
  }

  close(): void {
    clearInterval(this.sweeper);
  }

  /** @internal */
  begin(body: BodyHold): void {
    this.receiving.add(body);
    if (this.refusal) body.refuseUnfinished(this.refusal());
  }

  /** @internal */
  end(body: BodyHold): void {
    this.receiving.delete(body);
  }

  /** @internal Returns the error where the bytes do not fit, and then takes nothing. */
  take(owner: string, bytes: number): GatewayError | null {
    const known = this.owners.get(owner);
    const refusal = this.refusalFor(known?.held ?? 0, bytes);
    if (refusal) return refusal;
    this.held += bytes;
    if (known) known.held += bytes;
    else this.owners.set(owner, { held: bytes });
    return null;
  }

  /** @internal */
  give(owner: string, bytes: number): void {
    this.held -= bytes;
    this.owners.get(owner)!.held -= bytes;
  }

  private refusalFor(heldByOwner: number, bytes: number): GatewayError | null {
    const whose =
      this.held + bytes > this.bytesMax
        ? { whose: 'all callers', bytes: this.bytesMax }
        : heldByOwner + bytes > this.ownerBytesMax
          ? { whose: 'this account', bytes: this.ownerBytesMax }
          : null;
    return whose && gatewayError('body_memory_full', whose, { headers: { connection: 'close' } });
  }

  private sweep(): void {
    for (const [owner, { held }] of this.owners) if (held === 0) this.owners.delete(owner);
    for (const body of this.receiving.all()) {
      if (++body.quietSweeps > sweepsToStall)
        body.refuseUnfinished(gatewayError('request_timeout', undefined, { headers: { connection: 'close' } }));
    }
  }
}

/** The memory that one body holds. */
export class BodyHold implements Member {
  place = -1;
  /** The number of sweeps since the last byte arrived. */
  quietSweeps = 0;
  private bytes = 0;
  private source: Source | null = null;
  private refuse: ((error: GatewayError) => void) | null = null;

  constructor(
    private readonly memory: BodyMemory,
    private readonly owner: string,
  ) {}

  /** Starts to count the body; `refuse` ends its reading. */
  receive(source: Source, refuse: (error: GatewayError) => void): void {
    this.source = source;
    this.refuse = refuse;
    this.memory.begin(this);
  }

  /** Counts a chunk that has arrived. Returns the error where it does not fit. */
  add(bytes: number): GatewayError | null {
    const held = bytes + chunkOverheadBytes;
    const refusal = this.memory.take(this.owner, held);
    if (refusal) return refusal;
    this.quietSweeps = 0;
    this.bytes += held;
    return null;
  }

  /** The body has ended; nothing more arrives. */
  received(): void {
    this.refuse = null;
    this.source = null;
    this.memory.end(this);
  }

  /** Gives the body's memory back. */
  release(): void {
    if (this.refuse) this.received();
    if (this.bytes > 0) this.memory.give(this.owner, this.bytes);
    this.bytes = 0;
  }

  refuseUnfinished(error: GatewayError): void {
    if (this.source?.complete === false) this.refuse?.(error);
  }
}
