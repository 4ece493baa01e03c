/** Sums of usage by who holds the key and by end user read the generations themselves, so what these add has the two columns as well. */
import { generationUsageView } from './0013-door.js';

export const usageOfPeople = generationUsageView(', holder_id, end_user');
