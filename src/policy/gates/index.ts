/** Lists every gate in the order in which they apply. A route counts at the first gate that removes it. */
import { certifications } from './certifications.js';
import { creators } from './creators.js';
import { denyCloudAct } from './deny-cloud-act.js';
import { denyTraining } from './deny-training.js';
import type { Gate } from './gate.js';
import { maxCarbon } from './max-carbon.js';
import { maxPrice } from './max-price.js';
import { maxRetentionDays } from './max-retention-days.js';
import { providers } from './providers.js';
import { quantizations } from './quantizations.js';
import { regions } from './regions.js';
import { requireEuOwned } from './require-eu-owned.js';
import { requireInRegion } from './require-in-region.js';

export const gates: readonly Gate[] = [
  ...[denyCloudAct, maxCarbon, maxPrice, providers, creators, regions],
  ...[denyTraining, maxRetentionDays, requireInRegion, requireEuOwned, certifications, quantizations],
];
