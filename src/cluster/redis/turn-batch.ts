/**
 * Collects what the requests of one turn of the event loop ask of Redis into one command, or one for each slot of a cluster: measured,
 * most of the cost is the command's.
 */
import { atEndOfTurn, type TurnStage } from '../../base/turn.js';
import { bySlot, type Keyed, type SharedLink } from './shared-link.js';

/** Redis does nothing else while it runs a script; this many requests take about a millisecond. */
const asksMax = 128;

export class TurnBatch<Ask extends Keyed> {
  private asks: Ask[] = [];

  /** What a request gives back belongs to `releases`, so that it leaves before the answer of the request. */
  constructor(
    private readonly link: Pick<SharedLink, 'isCluster' | 'slotOf'>,
    private readonly send: (asks: readonly Ask[]) => unknown,
    private readonly stage: TurnStage = 'sends',
  ) {}

  add(ask: Ask): void {
    if (this.asks.length === 0) atEndOfTurn(this.stage, this.flush);
    this.asks.push(ask);
    if (this.asks.length === asksMax) this.flush();
  }

  private readonly flush = (): void => {
    const { asks } = this;
    if (asks.length === 0) return;
    this.asks = [];
    for (const together of bySlot(this.link, asks)) this.send(together);
  };
}
