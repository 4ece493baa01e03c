/**
 * Runs the code of the request path after a start, so that the first request does not wait for a connection to the store, for the
 * tokenizer, or for code that is compiled on first use. Nothing of it is counted, limited or recorded.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Identity, identityOf, newAccount, openTerms } from '../domain/account.js';
import { chatDoor } from '../doors/chat/chat-door.js';
import { explain } from '../pipeline/explain.js';
import type { Store } from '../storage/store.js';
import { unknownTerritory } from '../territory/territory.js';
import type { GatewayPorts } from './pipeline-ports.js';

const rounds = 3;
const body = Buffer.from('{"model":"sandbox/lodestone/echo","messages":[{"role":"user","content":"Hello"}]}');

/** Gives other work its turn after each step. A step that fails is left to the requests, which have answers for that. */
export async function warmUp(ports: GatewayPorts, store: Pick<Store, 'keys'>): Promise<void> {
  ports.loadTokenizer();
  try {
    for (let round = 0; round < rounds; round++) {
      await nextTurn();
      await store.keys.findWithAccount('');
      await nextTurn();
      const request = await ports.validator.validate(chatDoor, body);
      await nextTurn();
      await explain(ports, { identity: nobody(), territory: unknownTerritory, request });
    }
  } catch {
    // A store that is away, for example.
  }
}

function nobody(): Identity {
  const account = newAccount({ id: '', email: '', name: null, billingCountry: null, createdAt: 0 });
  const key = {
    id: '',
    accountId: '',
    name: '',
    lastFour: '',
    hash: null,
    expiresAt: null,
    createdAt: 0,
    terms: openTerms,
    projectId: null,
    holderId: null,
  };
  return identityOf(key, account);
}
