/** The doors under `/api/v1`, for clients of OpenRouter: the same APIs, with OpenRouter's model ids in answers and its errors. */
import { asLatin1, encodeLatin1 } from '../../base/latin1.js';
import { envelopeOf } from '../../errors/envelope.js';
import type { GatewayError } from '../../errors/gateway-error.js';
import type { ChunkIdentity } from '../../wire/chunk.js';
import { chatDoor } from '../chat/chat-door.js';
import { chatStream } from '../chat/write-answer.js';
import type { Door, StreamWriter } from '../door.js';
import { doors } from '../registry.js';

/** Of an error inside a stream, whose own status is the 200: that of a provider that failed before. */
const statusInStream = 503;

/** OpenRouter's error with the gateway's own inside. `code` is the status. */
export function openRouterError(error: GatewayError): object {
  const { error: lodestone } = envelopeOf(error);
  const code = error.status >= 400 ? error.status : statusInStream;
  return { error: { code, message: error.message, metadata: { lodestone } } };
}

const errorText = (error: GatewayError): string => JSON.stringify(openRouterError(error));

/** `{creator}/{model}` of a four-segment id. */
function shortModel(id: string): string {
  return id.split('/').slice(1, 3).join('/');
}

/** OpenRouter ends every stream with its usage, asked for or not. */
const named = (as: ChunkIdentity): ChunkIdentity => ({ ...as, model: shortModel(as.model), includeUsage: true });

/** Events of a writer are its own methods, which may have a state. */
function withShortModel(writer: StreamWriter): StreamWriter {
  return {
    writeFrame: (chunk, as, metadata) => writer.writeFrame(chunk, named(as), metadata),
    templateFor: (data, as) => writer.templateFor(data, named(as)),
    writeEnd: (ending, as) => writer.writeEnd(ending, named(as)),
    writeError: (error, requestId) => writer.writeError(error, requestId),
    ...(writer.takeEvent && { takeEvent: (data, event) => writer.takeEvent!(data, event) }),
    ...(writer.flush && { flush: () => writer.flush!() }),
  };
}

const chatStreams: StreamWriter = {
  ...withShortModel(chatStream),
  writeError: (error) => asLatin1(`data: ${encodeLatin1(errorText(error))}\n\n`),
};

/** Large bodies are read in other threads by the name of the door that this one stands for. */
export const openRouterDoors: readonly Door[] = doors.map((door) => ({
  ...door,
  path: `/api${door.path}`,
  reader: door.reader ?? door.path,
  // Clients of Anthropic's API read its errors only.
  ...(door.name !== 'messages' && { writeError: errorText }),
  writeAnswer: (answer) => door.writeAnswer({ ...answer, model: shortModel(answer.model) }),
  ...(door.openStream && {
    openStream: (request, isNative) =>
      door === chatDoor ? chatStreams : withShortModel(door.openStream!(request, isNative)),
  }),
}));
