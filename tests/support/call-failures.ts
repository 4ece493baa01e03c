/** Failures with their meaning, read at once and without the request that was sent: what most tests of meanings need. */
import * as failures from '../../src/providers/call-failure.js';

type Given<Name extends 'failureOf' | 'innerError' | 'noAnswer'> = Parameters<(typeof failures)[Name]>;

export const failureOf = (...given: Given<'failureOf'>) => failures.readFailureNow(failures.failureOf(...given));
export const innerError = (...given: Given<'innerError'>) => failures.readFailureNow(failures.innerError(...given));
export const noAnswer = (...given: Given<'noAnswer'>) => failures.readFailureNow(failures.noAnswer(...given));
