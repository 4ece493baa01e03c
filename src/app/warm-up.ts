/**
 * Runs the code of the request path after a start, so that the first request does not wait for a connection to the store, for the
 * tokenizer, or for code that is compiled on first use. Nothing of it is counted, limited or recorded.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Identity, openTerms } from '../domain/account.js';
import { chatDoor } from '../doors/chat/chat-door.js';
import { explain } from '../pipeline/explain.js';
import { defaultPolicy } from '../policy/policy.js';
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
  const account = {
    ...{ id: '', email: '', name: null, status: 'active' as const, billingCountry: null, createdAt: 0 },
    ...{ balancePico: 0n, usagePico: 0n, aliases: new Map(), fallback: [], policy: defaultPolicy },
    ...{ limits: { requestsPerMinute: null, tokensPerMinute: null }, overdraft: null, creditLimitPico: 0n },
  };
  const key = {
    id: '',
    accountId: '',
    name: '',
    lastFour: '',
    hash: null,
    expiresAt: null,
    createdAt: 0,
    terms: openTerms,
  };
  return { key, account };
}
