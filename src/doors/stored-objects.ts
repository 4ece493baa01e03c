/**
 * Finds what a request names that a provider keeps: files, containers, vector stores. They belong to the operator's account at the
 * provider, which all accounts of Lodestone share, so that one account could name what is another's. A route serves such a request only
 * where the operator allows it.
 */
import type { Inexpressible, StoredObject } from '../wire/chat-request.js';
import { type Fields, isFields } from './body.js';

const sendContent = 'Send the content itself';

/** In a chat completions request. */
export function storedInChat(fields: Fields): StoredObject | undefined {
  const { audio, extra_body: extra } = fields;
  for (const { content, audio: spoken } of fields.messages as readonly Fields[]) {
    if (idIn(spoken)) return { param: 'messages', what: 'audio of an earlier answer', remedy: 'Send its transcript' };
    if (listOf(content).some(({ file }) => isFields(file) && isSet(file.file_id))) return fileIn('messages');
  }
  if (isFields(audio) && idIn(audio.voice)) {
    return { param: 'audio', what: 'a voice', remedy: 'Choose a voice of the provider' };
  }
  if (isFields(extra) && isFields(extra.google) && hasName(extra.google, cachedContent)) {
    return { param: 'extra_body', what: 'cached content', remedy: sendContent };
  }
  return storedInTools(fields.tools);
}

/** Of a stored prompt, on a route that does not speak the API. */
export const promptInexpressible: Inexpressible = {
  param: 'prompt',
  reason: 'keeps no prompts that a request could name',
  remedy: 'Send its text in `instructions` and `input`, or choose a route whose provider has the Responses API.',
};

const cachedContent = new Set(['cachedcontent']);

/** In a Messages request. */
export function storedInMessages(fields: Fields, tools: readonly Fields[]): StoredObject | undefined {
  const { container, messages } = fields;
  if (isSet(container) && namesContainer(container)) {
    return {
      param: 'container',
      what: 'a container or a skill',
      remedy: 'Leave it out: each request gets a new container',
    };
  }
  for (const { content } of messages as readonly Fields[]) if (blocksNameFile(content)) return fileIn('messages');
  return storedInTools(tools);
}

/** An object may also choose skills; those of the provider itself belong to nobody. */
function namesContainer(container: unknown): boolean {
  if (!isFields(container)) return true;
  for (const name in container) {
    if (container[name] === null) continue;
    if (name !== 'skills' || !listOf(container.skills).every(({ type }) => type === 'anthropic')) return true;
  }
  return false;
}

function blocksNameFile(content: unknown): boolean {
  return listOf(content).some(({ type, source, content: inner }) => {
    if (type === 'container_upload') return true;
    if (isFields(source) && (source.type === 'file' || isSet(source.file_id) || blocksNameFile(source.content)))
      return true;
    return type === 'tool_result' && blocksNameFile(inner);
  });
}

/** In a Responses request. */
export function storedInResponses(fields: Fields, tools: readonly Fields[]): StoredObject | undefined {
  for (const { content, output } of listOf(fields.input)) {
    const parts = [...listOf(content), ...listOf(output), ...(isFields(output) ? [output] : [])];
    if (parts.some(({ file_id: id }) => isSet(id))) return fileIn('input');
  }
  return storedInTools(tools);
}

/** Members of tools that name something, in lower case and without underscores. */
const toolIds = new Set(['fileid', 'fileids', 'vectorstoreids', 'collectionids', 'containerid', 'skillid']);

function storedInTools(tools: unknown): StoredObject | undefined {
  for (const tool of listOf(tools)) {
    if (tool.type === 'function' || tool.type === 'custom' || tool.type === undefined) continue;
    if (typeof tool.container === 'string' || hasName(tool, toolIds)) {
      return { param: 'tools', what: 'a file, a container or a store of vectors', remedy: 'Leave its id out' };
    }
  }
  return undefined;
}

/** Whether an object, or one inside of it, has a member of such a name that says something. */
function hasName(holder: Fields, names: ReadonlySet<string>): boolean {
  return Object.entries(holder).some(([name, value]) => {
    if (!isSet(value) || (Array.isArray(value) && value.length === 0)) return false;
    if (names.has(name.toLowerCase().replaceAll('_', ''))) return true;
    return Array.isArray(value)
      ? listOf(value).some((each) => hasName(each, names))
      : isFields(value) && hasName(value, names);
  });
}

const fileIn = (param: string): StoredObject => ({ param, what: 'a file', remedy: sendContent });
const isSet = (value: unknown): boolean => value !== undefined && value !== null;
const idIn = (value: unknown): boolean => isFields(value) && isSet(value.id);
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);
