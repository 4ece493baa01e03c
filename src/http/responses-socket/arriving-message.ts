/** The message that is arriving on a WebSocket. Its bytes count as a body of the account until it is complete. */
import type { GatewayError } from '../../errors/gateway-error.js';
import type { BodyHold, BodyMemory } from '../../limits/body-memory.js';

export class ArrivingMessage {
  private hold: BodyHold | null = null;

  /** `refuse` is called where there is no room for the message, where it does not go on, and where the server drains. */
  constructor(
    private readonly memory: Pick<BodyMemory, 'open'>,
    private readonly owner: string,
    private readonly refuse: (error: GatewayError) => void,
  ) {}

  get hasBegun(): boolean {
    return this.hold !== null;
  }

  count(bytes: number): void {
    this.hold ??= this.open();
    const refusal = this.hold.add(bytes);
    if (refusal) this.end(refusal);
  }

  /** Ends the message. Its memory is the caller's now. */
  take(): BodyHold | null {
    const { hold } = this;
    this.hold = null;
    hold?.received();
    return hold;
  }

  private open(): BodyHold {
    const hold = this.memory.open(this.owner);
    hold.receive({ complete: false }, (error) => this.end(error));
    return hold;
  }

  private end(error: GatewayError): void {
    this.take()?.release();
    this.refuse(error);
  }
}
