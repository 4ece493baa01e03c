/** Checks the blocks of a Messages request like `checkBlocks`, in their text. Blocks of other types than the usual ones are left to it. */
import type { JsonScanner } from '../../wire/json-scanner.js';
import { anObject, anyValue, aText, oneOf, scanEntries, takeText, type ValueScan } from '../../wire/scan-object.js';
import { RequestObject } from '../scanned-request.js';

/** Members that have the type that they need. A block in which one has another type is unusual. */
const hasText = 1 << 0;
const hasId = 1 << 1;
const hasName = 1 << 2;
const hasResultId = 1 << 3;
const hasSource = 1 << 4;
/** What the block is. */
const isText = 1 << 8;
const isToolUse = 1 << 9;
const isToolResult = 1 << 10;
const isMedia = 1 << 11;
const isThinking = 1 << 12;

/** Each type with what it needs. */
const needed: readonly (readonly [type: number, members: number])[] = [
  [isText, hasText],
  [isToolUse, hasId | hasName],
  [isToolResult, hasResultId],
  [isMedia, hasSource],
  [isThinking, 0],
];

/** Content is a text, or blocks; there may be none. */
const content: ValueScan = (json, levels) => (takeText(json) ? 0 : scanBlocks(json, levels));

const block = new RequestObject({
  type: oneOf({
    ...{ text: isText, tool_use: isToolUse, tool_result: isToolResult, image: isMedia, document: isMedia },
    ...{ thinking: isThinking, redacted_thinking: isThinking },
  }),
  text: aText(hasText),
  id: aText(hasId),
  name: aText(hasName),
  input: anObject(0),
  tool_use_id: aText(hasResultId),
  content,
  source: scanSource,
  cache_control: anyValue,
});

/** At least one block. Returns 0, or -1 where one is unusual or not valid. */
export function scanBlocks(json: JsonScanner, levels: number): number {
  return scanEntries(json, levels, scanBlock);
}

function scanBlock(json: JsonScanner, levels: number): number {
  const found = block.scan(json, levels);
  if (found === -1) return -1;
  for (const [type, members] of needed) {
    if ((found & type) !== 0) return (found & members) === members ? 0 : -1;
  }
  return -1;
}

const hasData = 1 << 0;
const hasMediaType = 1 << 1;
const hasUrl = 1 << 2;
const isBase64 = 1 << 8;
const isUrl = 1 << 9;

const source = new RequestObject({
  type: oneOf({ base64: isBase64, url: isUrl }),
  data: aText(hasData),
  media_type: aText(hasMediaType),
  url: aText(hasUrl),
});

function scanSource(json: JsonScanner, levels: number): number {
  const found = source.scan(json, levels);
  if (found === -1) return -1;
  const members = (found & isBase64) !== 0 ? isBase64 | hasData | hasMediaType : isUrl | hasUrl;
  return (found & members) === members ? hasSource : -1;
}
