/**
 * Every error that a caller can see, once, keyed by the condition that causes it. The first part is §7.1 in its order;
 * the second is what the contract adds. The docs page is generated from this table, and a test holds the two together.
 */
import { callerErrors } from './table-caller.js';
import { dashboardErrors } from './table-dashboard.js';
import { operatorErrors } from './table-operator.js';
import { paymentErrors } from './table-payments.js';
import { serviceErrors } from './table-service.js';

export const errorTable = {
  ...callerErrors,
  ...serviceErrors,
  ...operatorErrors,
  ...dashboardErrors,
  ...paymentErrors,
};

export type Condition = keyof typeof errorTable;
export type ValuesOf<C extends Condition> = Parameters<(typeof errorTable)[C]['message']>[0];
