/** Every resource of the document, in the order in which the reference shows them. */
import { account } from './account.js';
import { adminAccounts } from './admin-accounts.js';
import { adminCredits } from './admin-credits.js';
import { adminKeys } from './admin-keys.js';
import { adminRoutes } from './admin-routes.js';
import { aliases } from './aliases.js';
import { chat } from './chat.js';
import { explain } from './explain.js';
import { fallback } from './fallback.js';
import { generations } from './generations.js';
import { models } from './models.js';
import { ops } from './ops.js';
import { routingPolicy } from './routing-policy.js';
import { webhooks } from './webhooks.js';

export const resourceGroups = {
  'Inference API': [chat, models, explain, routingPolicy, aliases, fallback, generations, account],
  'Admin API': [adminAccounts, adminKeys, adminCredits, adminRoutes],
  Service: [ops, webhooks],
};
