/**
 * Bounds the memory that request bodies hold, and what clients send before they are known. A body counts by the bytes that have arrived,
 * so that a client that announces much and sends nothing takes nothing from others. A body that would exceed the bound is refused, also
 * in the middle.
 */
import { type Member, MemberList } from '../base/collections.js';
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';

/** The share that one account may take, so that three others can still send. */
const ownerShare = 1 / 4;

/** Senders without an account share one part, so that they can keep out only one another. */
export const noAccount = 'no account';

/** The share that one address may take of what senders hold before they are known, so that fifteen others can still send. */
const addressShare = 1 / 16;

/** The cost of a chunk besides its bytes: a body in chunks of one byte holds far more than its length. */
const chunkOverheadBytes = 256;

const sweepsToStall = 6;

interface BodyMemoryOptions {
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
  private readonly addressBytesMax: number;
  private held = 0;
  /** The part of `held` of requests that wait for their admission. */
  private waiting = 0;
  /** Owners without bytes stay until the next sweep: most of them send again soon. */
  private readonly owners = new Map<string, OwnerBytes>();
  /** The part of those without an account that is counted by address. */
  private readonly addresses = new Map<string, OwnerBytes>();
  private readonly receiving = new MemberList<BodyHold>();
  private refusal: (() => GatewayError) | null = null;
  private readonly sweeper: NodeJS.Timeout;

  constructor({ bytesMax, stallMs = 30_000 }: BodyMemoryOptions) {
    this.bytesMax = bytesMax;
    this.ownerBytesMax = Math.floor(bytesMax * ownerShare);
    this.addressBytesMax = Math.floor(bytesMax * addressShare);
    this.sweeper = setInterval(() => this.sweep(), stallMs / sweepsToStall).unref();
  }

  get heldBytes(): number {
    return this.held;
  }

  /** Throws body_memory_full where a body of this length does not fit now; null where its length is not known. */
  check(owner: string, length: number | null): void {
    const refusal = length === 0 ? null : this.refusalFor(owner, this.owners.get(owner), length ?? 1);
    if (refusal) throw refusal;
  }

  /** `owner` is the account that sends the body, or a common name for all clients without an account. */
  open(owner: string): BodyHold {
    return new BodyHold(this, owner);
  }

  /** For bytes that are kept before their sender is known by more than its address. */
  openEarly(address: string): EarlyHold {
    return new EarlyHold(this, address);
  }

  /**
   * Counts a piece of a body that waits for the admission of its request, in a part of its own: how long that takes is not up to the
   * sender. Every request of a fleet waits, so this only counts. Returns 0 where there is no room.
   */
  takeWaiting(bytes: number): number {
    const taken = bytes + chunkOverheadBytes;
    if (this.waiting + taken > this.ownerBytesMax || this.held + taken > this.bytesMax) return 0;
    this.waiting += taken;
    this.held += taken;
    return taken;
  }

  giveWaiting(taken: number): void {
    this.waiting -= taken;
    this.held -= taken;
  }

  /** The refusal of a request that `takeWaiting` had no room for. */
  waitingRefusal(): GatewayError {
    return fullError('requests that wait for their admission', this.ownerBytesMax);
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
    const refusal = this.refusalFor(owner, known, bytes);
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

  /** @internal The same for an address, which takes from the part of all senders without an account. */
  takeEarly(address: string, bytes: number): GatewayError | null {
    const known = this.addresses.get(address);
    if ((known?.held ?? 0) + bytes > this.addressBytesMax) return fullError('this address', this.addressBytesMax);
    const refusal = this.take(noAccount, bytes);
    if (refusal) return refusal;
    if (known) known.held += bytes;
    else this.addresses.set(address, { held: bytes });
    return null;
  }

  /** @internal */
  giveEarly(address: string, bytes: number): void {
    this.give(noAccount, bytes);
    this.addresses.get(address)!.held -= bytes;
  }

  private refusalFor(owner: string, known: OwnerBytes | undefined, bytes: number): GatewayError | null {
    if (this.held + bytes > this.bytesMax) return fullError('all callers', this.bytesMax);
    if ((known?.held ?? 0) + bytes <= this.ownerBytesMax) return null;
    return fullError(owner === noAccount ? 'callers without an account' : 'this account', this.ownerBytesMax);
  }

  private sweep(): void {
    for (const bytes of [this.owners, this.addresses])
      for (const [owner, { held }] of bytes) if (held === 0) bytes.delete(owner);
    for (const body of this.receiving.all()) {
      if (++body.quietSweeps > sweepsToStall)
        body.refuseUnfinished(gatewayError('request_timeout', undefined, { headers: { connection: 'close' } }));
    }
  }
}

function fullError(whose: string, bytes: number): GatewayError {
  return gatewayError('body_memory_full', { whose, bytes }, { headers: { connection: 'close' } });
}

/** The memory of bytes that are kept before their sender is known. */
export class EarlyHold {
  private bytes = 0;

  constructor(
    private readonly memory: BodyMemory,
    private readonly address: string,
  ) {}

  /** Counts so many bytes from now on. Returns the error where they do not fit; then the count stays as it was. */
  resize(kept: number): GatewayError | null {
    const more = kept === 0 ? -this.bytes : kept + chunkOverheadBytes - this.bytes;
    const refusal = more > 0 ? this.memory.takeEarly(this.address, more) : null;
    if (refusal) return refusal;
    if (more < 0) this.memory.giveEarly(this.address, -more);
    this.bytes += more;
    return null;
  }

  /** Gives the memory back; a second call does nothing. */
  release(): void {
    this.resize(0);
  }
}

/** The memory that one body holds. */
export class BodyHold implements Member {
  index = -1;
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
