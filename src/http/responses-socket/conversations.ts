/**
 * What the open sockets remember: the conversation of the last response of each, for `previous_response_id`. It is in memory only, and
 * bounded. Where there is no room, the oldest is forgotten; its client then sends its whole conversation again.
 */
import type { Conversation } from '../../doors/responses/socket-door.js';

interface ConversationLimits {
  readonly ownerBytesMax: number;
  readonly bytesMax: number;
}

const mebibyte = 1024 * 1024;
const defaultLimits: ConversationLimits = { ownerBytesMax: 32 * mebibyte, bytesMax: 128 * mebibyte };

interface Kept {
  readonly owner: string;
  readonly conversation: Conversation;
}

export class Conversations<Socket extends object> {
  /** In the order in which they were kept. */
  private readonly kept = new Map<Socket, Kept>();
  private readonly heldBy = new Map<string, number>();
  private held = 0;

  constructor(private readonly limits = defaultLimits) {}

  get heldBytes(): number {
    return this.held;
  }

  of(socket: Socket): Conversation | null {
    return this.kept.get(socket)?.conversation ?? null;
  }

  keep(socket: Socket, owner: string, conversation: Conversation): void {
    this.forget(socket);
    const { ownerBytesMax, bytesMax } = this.limits;
    const bytes = conversation.items.length;
    if (bytes > ownerBytesMax) return;
    while ((this.heldBy.get(owner) ?? 0) + bytes > ownerBytesMax) this.forgetOldest(owner);
    while (this.held + bytes > bytesMax) this.forgetOldest();
    this.kept.set(socket, { owner, conversation });
    this.count(owner, bytes);
  }

  forget(socket: Socket): void {
    const known = this.kept.get(socket);
    if (!known) return;
    this.kept.delete(socket);
    this.count(known.owner, -known.conversation.items.length);
  }

  private forgetOldest(owner?: string): void {
    for (const [socket, known] of this.kept) {
      if (owner !== undefined && known.owner !== owner) continue;
      this.forget(socket);
      return;
    }
  }

  private count(owner: string, bytes: number): void {
    this.held += bytes;
    const held = (this.heldBy.get(owner) ?? 0) + bytes;
    if (held === 0) this.heldBy.delete(owner);
    else this.heldBy.set(owner, held);
  }
}
