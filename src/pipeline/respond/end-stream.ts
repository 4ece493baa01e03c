/** Ends a committed stream: bills what was delivered, settles it, and only then sends the last frames. */
import { asLatin1 } from '../../base/latin1.js';
import type { Route } from '../../catalogue/route.js';
import type { StreamEnd } from '../../domain/generation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { usageText } from '../../wire/usage-text.js';
import type { Billed, Exchange, PipelinePorts } from '../handover.js';
import { bill } from './bill.js';
import { closingFrames, pricingFaultFrame } from './closing-frames.js';
import type { StreamRelay } from './stream-relay.js';

export interface StreamClose {
  exchange: Exchange;
  route: Route;
  relay: StreamRelay;
  end: 'complete' | 'stalled' | 'cut';
  /** `router_metadata` with its `stream_end`. */
  metadata(end: StreamEnd): string;
  /** Writes the record, exactly once; `thenSend` sends the last bytes once it is written. */
  settle(billed: Billed | null, end: StreamEnd, thenSend?: () => void): void;
}

export async function endStream(ports: Pick<PipelinePorts, 'counter'>, close: StreamClose): Promise<void> {
  const { exchange, route, relay, end } = close;
  const { caller, request } = exchange;
  relay.commitEmpty();
  const finishFrames = relay.takeFinishFrames();
  for (const frame of finishFrames) relay.addDelivered(frame);
  const { reading, usage: given, delivered: text } = relay;
  const billing = bill(ports, request, route, { usage: reading, given, text, whole: end === 'complete' });
  // Counting takes a while, in which the process may die.
  if (billing instanceof Promise) relay.recordSoFar(caller.gone);
  const billed = billing instanceof Promise ? await billing : billing;
  const { includeUsage } = request;
  const usage = usageText(relay.usage, billed.usage, billed.costPico);
  const frames = closingFrames(relay, finishFrames, { end, includeUsage, usage, metadata: close.metadata(end) });
  close.settle(billed, caller.gone ? 'client_closed' : end, () => caller.endStream(frames));
}

/** §3.3, third row: nothing is billed, and the missing `[DONE]` says that the answer is incomplete. */
export function endWithPricingFault(close: Omit<StreamClose, 'end' | 'metadata'>, reason: string): void {
  const { exchange, route, relay } = close;
  const error = gatewayError('cost_unresolvable', { provider: route.provider.id, reason });
  const frames = asLatin1(relay.takeOut() + pricingFaultFrame(error));
  close.settle(null, 'pricing_fault', () => exchange.caller.endStream(frames));
}

/** The caller left: it pays for the prompt and for what it was sent. */
export async function billAbandoned(
  ports: Pick<PipelinePorts, 'counter'>,
  close: Omit<StreamClose, 'end' | 'metadata'>,
): Promise<void> {
  const { exchange, route, relay } = close;
  const { reading, usage: given, delivered: text } = relay;
  const delivered = { usage: reading, given, text, whole: false };
  close.settle(await bill(ports, exchange.request, route, delivered), 'client_closed');
}
