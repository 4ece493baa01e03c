/** Every gate, in the order in which routes are held against them: a route is counted at the first that removes it. */
import { creators } from './creators.js';
import { denyCloudAct } from './deny-cloud-act.js';
import type { Gate } from './gate.js';
import { maxCarbon } from './max-carbon.js';
import { maxPrice } from './max-price.js';
import { providers } from './providers.js';
import { regions } from './regions.js';

export const gates: readonly Gate[] = [denyCloudAct, maxCarbon, maxPrice, providers, creators, regions];
