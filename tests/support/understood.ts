/** Failures with their meaning, read at once and beside no request: what most tests of meanings need. */
import * as unread from '../../src/providers/understand.js';

type Given<Name extends 'understand' | 'innerError' | 'noAnswer'> = Parameters<(typeof unread)[Name]>;

export const understand = (...given: Given<'understand'>) => unread.readNow(unread.understand(...given));
export const innerError = (...given: Given<'innerError'>) => unread.readNow(unread.innerError(...given));
export const noAnswer = (...given: Given<'noAnswer'>) => unread.readNow(unread.noAnswer(...given));
