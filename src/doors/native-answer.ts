/** The answers of a provider that speaks the client's API: its own text, in which a few members are changed. */
import { asLatin1, type Latin1Text } from '../base/latin1.js';
import type { ChunkIdentity } from '../wire/chunk.js';
import { ChunkTemplate } from '../wire/chunk-template.js';
import { findMembers } from '../wire/json-members.js';
import { memberText, withMembers } from '../wire/splice-members.js';
import type { BilledUsage, FrameTemplate, WholeAnswer } from './door.js';

/** For frames of a stream whose events are passed on as they came: `take` gives those that wait. null where the frame is unusual. */
export function passedTemplate(
  data: Latin1Text,
  as: ChunkIdentity,
  take: (metadata: string | undefined) => string,
): FrameTemplate | null {
  const learnt = ChunkTemplate.learn(data, as);
  if (learnt === null) return null;
  return {
    textIn: (text, start, end) => learnt.textIn(text, start, end),
    write: (_, metadata) => asLatin1(take(metadata)),
  };
}

/** `nativeUsage` writes the usage; it gets the provider's own one as JSON text, where there is one. */
export function writeNativeAnswer(
  { parts, model, usage, cost, metadata }: WholeAnswer,
  nativeUsage: (text: string | undefined, billed: BilledUsage) => string,
): string {
  const native = parts.native!;
  const { places } = parts;
  const billed = { given: parts.usage, usage, cost };
  const ownModel = `"${model}"`;
  if (places === undefined) {
    const found = findMembers(native);
    const own = nativeUsage(memberText(native, 'usage', found), billed);
    return withMembers(native, { model: ownModel, usage: own, router_metadata: metadata }, found);
  }
  const { modelStart, modelEnd, usageStart, usageEnd, end } = places;
  const own = nativeUsage(native.slice(usageStart, usageEnd).trim(), billed);
  const added = `,"router_metadata":${metadata}${native.slice(end)}`;
  if (modelStart < usageStart) {
    const between = native.slice(modelEnd, usageStart);
    return native.slice(0, modelStart) + ownModel + between + own + native.slice(usageEnd, end) + added;
  }
  const between = native.slice(usageEnd, modelStart);
  return native.slice(0, usageStart) + own + between + ownModel + native.slice(modelEnd, end) + added;
}
