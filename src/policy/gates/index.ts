/** Lists every gate in the order in which they apply. A route counts at the first gate that removes it. */
import { creators } from './creators.js';
import { denyCloudAct } from './deny-cloud-act.js';
import type { Gate } from './gate.js';
import { maxCarbon } from './max-carbon.js';
import { maxPrice } from './max-price.js';
import { providers } from './providers.js';
import { regions } from './regions.js';

export const gates: readonly Gate[] = [denyCloudAct, maxCarbon, maxPrice, providers, creators, regions];
