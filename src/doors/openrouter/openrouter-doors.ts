/** The doors under `/api/v1`, for clients of OpenRouter: the same APIs, with OpenRouter's model ids in chat answers and its errors. */
import { asLatin1, encodeLatin1 } from '../../base/latin1.js';
import { envelopeOf } from '../../errors/envelope.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import type { ChunkIdentity } from '../../wire/chunk.js';
import { chatDoor } from '../chat/chat-door.js';
import { chatStream } from '../chat/write-answer.js';
import type { Door, StreamWriter } from '../door.js';
import { doors } from '../registry.js';

/** OpenRouter's error with the gateway's own inside. `code` is the status. */
export function openRouterError(error: GatewayError): object {
  const { error: lodestone } = envelopeOf(error);
  return { error: { code: error.status, message: error.message, metadata: { lodestone } } };
}

const errorText = (error: GatewayError): string => JSON.stringify(openRouterError(error));

/** `{creator}/{model}` of a four-segment id. */
function shortModel(id: string): string {
  return id.split('/').slice(1, 3).join('/');
}

const named = (as: ChunkIdentity): ChunkIdentity => ({ ...as, model: shortModel(as.model) });

const stream: StreamWriter = {
  writeFrame: (chunk, as, metadata) => chatStream.writeFrame(chunk, named(as), metadata),
  templateFor: (data, as) => chatStream.templateFor(data, named(as)),
  writeEnd: (ending, as) => chatStream.writeEnd(ending, named(as)),
  writeError: (error) => asLatin1(`data: ${encodeLatin1(errorText(error))}\n\n`),
};

/** Large bodies are read in other threads by the name of the door that this one stands for. */
export const openRouterDoors: readonly Door[] = doors.map((door) => ({
  ...door,
  path: `/api${door.path}`,
  reader: door.reader ?? door.path,
  // Clients of Anthropic's API read its errors only.
  ...(door.name !== 'messages' && { writeError: errorText }),
  ...(door === chatDoor && {
    writeAnswer: (answer) => chatDoor.writeAnswer({ ...answer, model: shortModel(answer.model) }),
    openStream: () => stream,
  }),
}));
