/** Which requests may leave HTTP for another protocol: those for a WebSocket at one path. Any other is served as if it had not asked. */
import { IncomingMessage } from 'node:http';
import { doorAt } from '../../doors/registry.js';
import { socketDoor } from '../../doors/responses/socket-door.js';
import { rawHeader } from './headers.js';

/**
 * A request of a server that listens for upgrades. Node gives such a server every request that asks for any, and would have no answer for
 * them: Java's client asks for `h2c` with each of its requests, for example. So Node is told of the wanted ones only.
 */
export class UpgradableRequest extends IncomingMessage {
  private asked: unknown;

  /** Node sets it from the head, and looks at it when the head is complete. */
  get upgrade(): boolean {
    return Boolean(this.asked) && (this.method === 'CONNECT' || isForSocket(this));
  }

  set upgrade(asked: unknown) {
    this.asked = asked;
  }
}

function isForSocket(req: IncomingMessage): boolean {
  if (req.method !== 'GET' || doorAt(req.url)?.path !== socketDoor.path) return false;
  return rawHeader(req, 'upgrade')?.toLowerCase() === 'websocket';
}
