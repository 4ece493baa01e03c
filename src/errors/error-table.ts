/**
 * Lists every error that a client can see, once, keyed by the condition that causes it. The docs page is generated from this
 * table, and a test compares the two.
 */
import { callerErrors } from './table-caller.js';
import { dashboardErrors } from './table-dashboard.js';
import { doorErrors } from './table-doors.js';
import { keyErrors } from './table-keys.js';
import { nameErrors } from './table-names.js';
import { operatorErrors } from './table-operator.js';
import { paymentErrors } from './table-payments.js';
import { peopleErrors } from './table-people.js';
import { projectErrors } from './table-projects.js';
import { serviceErrors } from './table-service.js';
import { workloadErrors } from './table-workloads.js';

export const errorTable = {
  ...callerErrors,
  ...doorErrors,
  ...keyErrors,
  ...projectErrors,
  ...serviceErrors,
  ...operatorErrors,
  ...nameErrors,
  ...dashboardErrors,
  ...paymentErrors,
  ...peopleErrors,
  ...workloadErrors,
};

export type Condition = keyof typeof errorTable;
export type ValuesOf<C extends Condition> = Parameters<(typeof errorTable)[C]['message']>[0];
