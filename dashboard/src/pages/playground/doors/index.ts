/** The client APIs of the playground, in the order of the list. A new one is a file and a line here. */
import type { Catalogue } from '../../../api/types.js';
import { chatDoor } from './chat.js';
import type { PlaygroundDoor } from './door.js';
import { embeddingsDoor } from './embeddings.js';
import { messagesDoor } from './messages.js';
import { rerankDoor } from './rerank.js';
import { responsesDoor } from './responses.js';

const known: readonly PlaygroundDoor[] = [chatDoor, messagesDoor, responsesDoor, embeddingsDoor, rerankDoor];

/** Those that this gateway serves. */
export function servedDoors(catalogue: Catalogue | undefined): readonly PlaygroundDoor[] {
  const served = catalogue?.doors.map(({ name }) => name) ?? [chatDoor.name];
  return known.filter(({ name }) => served.includes(name));
}

/** The first door that serves a kind of models. */
export function doorOfKind(kind: string): PlaygroundDoor {
  return known.find((door) => door.kind === kind) ?? chatDoor;
}

export { chatDoor };
