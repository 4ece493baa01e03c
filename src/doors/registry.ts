/** The client APIs that are served. A new one is a folder and one line here. */
import { chatDoor } from './chat/chat-door.js';
import type { Door } from './door.js';
import { embeddingsDoor } from './embeddings/embeddings-door.js';
import { countTokensDoor, messagesDoor } from './messages/messages-door.js';
import { rerankDoor } from './rerank/rerank-door.js';
import { compactDoor } from './responses/compact-door.js';
import { responsesDoor } from './responses/responses-door.js';

export const doors: readonly Door[] = [
  chatDoor,
  messagesDoor,
  countTokensDoor,
  responsesDoor,
  compactDoor,
  embeddingsDoor,
  rerankDoor,
];

/** The door that a request is for; undefined where it is for none. Runs for every request, so the usual case is one comparison. */
export function doorAt(url: string | undefined, among: readonly Door[] = doors): Door | undefined {
  if (url === undefined) return undefined;
  for (const door of among) {
    if (
      url === door.path ||
      (url.length > door.path.length && url[door.path.length] === '?' && url.startsWith(door.path))
    )
      return door;
  }
  return undefined;
}

export function doorOf(path: string): Door {
  const door = doors.find((known) => known.path === path);
  if (!door) throw new Error(`No door has the path ${path}.`);
  return door;
}

/** The door that serves the requests of an API; undefined where there is none. */
export function doorNamed(name: unknown): Door | undefined {
  return doors.find((door) => door.name === name);
}
