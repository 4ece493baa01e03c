/** Copies of the model ids of requests: a part of a body would keep the whole body in memory for as long as the record of the request. */
import { asLatin1, copyLatin1, decodeLatin1 } from '../../base/latin1.js';

/** The longest id that is looked up. */
export const modelIdMax = 512;
/** A longer id is no id of a catalogue. */
const keptIdMax = 256;

const modelIds = new Map<string, string>();
const modelIdsMax = 1_000;

/** The text of an id that was cut out of a body in latin1. */
export function keptModelId(id: string): string {
  return modelIds.get(id) ?? keepModelId(id);
}

function keepModelId(id: string): string {
  const copy = decodeLatin1(asLatin1(id));
  if (modelIds.size >= modelIdsMax) modelIds.clear();
  if (id.length <= keptIdMax) modelIds.set(copyLatin1(asLatin1(id)), copy);
  return copy;
}
