/** What the record of a request keeps for its receipt. Runs for every request, so whatever it can is kept with the objects it is about. */
import { canonicalDigest } from '../../base/canonical-json.js';
import { catalogueDigest } from '../../catalogue/digest.js';
import type { Snapshot } from '../../catalogue/route.js';
import { keyScopeGate, type Removal, setGates } from '../../policy/apply-gates.js';
import type { RoutingPolicy } from '../../policy/routing-policy.js';
import { digestCell, proofCell } from '../../proof/proof-facts.js';
import type { Delivered, Exchange } from '../handover.js';

const policies = new WeakMap<RoutingPolicy, string>();
const catalogues = new WeakMap<Snapshot, string>();
const gateTexts = new WeakMap<RoutingPolicy, WeakMap<readonly Removal[], string>>();

function kept<Key extends WeakKey>(known: WeakMap<Key, string>, key: Key, make: (key: Key) => string): string {
  let text = known.get(key);
  if (text === undefined) {
    text = make(key);
    known.set(key, text);
  }
  return text;
}

export function proofCellOf(exchange: Exchange, { route, answerHash }: Delivered): string {
  return proofCell({
    policy: kept(policies, exchange.trail.gated?.policy ?? exchange.identity.account.policy, (policy) =>
      digestCell(canonicalDigest(policy)),
    ),
    catalogue: kept(catalogues, exchange.snapshot, (snapshot) => digestCell(catalogueDigest(snapshot))),
    gates: gatesText(exchange),
    route,
    requestHash: exchange.requestHash,
    answerHash,
  });
}

/** The gates of an account leave a pin alone, as does an order of providers. */
function gatesText({ preferences, trail: { plan, gated } }: Exchange): string {
  if (plan === null || gated === null) return '[]';
  const { policy, isScoped, removed } = gated;
  const wishes = preferences?.gates.map(({ name }) => name) ?? [];
  if (plan.kind === 'pin')
    return textOf(
      wishes.filter((name) => name !== 'provider.allow_fallbacks'),
      removed,
    );
  const own = (): string[] => setGates(policy).map(({ name }) => name);
  // Without these two the list belongs to the policy alone, and is the same one for every request.
  if (preferences === null && !isScoped) return kept(textsOf(policy), removed, () => textOf(own(), removed));
  return textOf([...(isScoped ? [keyScopeGate] : []), ...own(), ...wishes], removed);
}

/** Lists of removals may be shared by policies, the empty one above all, and each policy has gates of its own. */
function textsOf(policy: RoutingPolicy): WeakMap<readonly Removal[], string> {
  let texts = gateTexts.get(policy);
  if (texts === undefined) {
    texts = new WeakMap();
    gateTexts.set(policy, texts);
  }
  return texts;
}

function textOf(names: readonly string[], removed: readonly Removal[]): string {
  const counted = names.map((name) => [name, removed.filter(({ gate }) => gate === name).length]);
  return JSON.stringify(counted);
}
