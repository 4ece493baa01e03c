/**
 * What a provider says of a whole answer in frames without choices: OpenAI's moderation, xAI's citations. It goes out with the finish frame,
 * because without `include_usage` no frame may follow that one.
 */
import { asLatin1, encodeLatin1, type Latin1Text } from '../../base/latin1.js';
import { type Chunk, encodingOf, parseChunk } from '../../wire/chunk.js';

/** Members that the gateway writes itself, or that the frames with text have too. */
const ofEveryFrame: ReadonlySet<string> = new Set([
  ...['id', 'object', 'created', 'model', 'choices', 'usage', 'x_groq', 'error', 'router_metadata'],
  ...['service_tier', 'system_fingerprint', 'obfuscation'],
]);

const charactersMax = 64 * 1024;

export class SideMembers {
  /** Names and values as JSON text, in latin1. */
  private readonly members = new Map<string, string>();
  private characters = 0;

  clear(): void {
    this.members.clear();
    this.characters = 0;
  }

  take(chunk: Chunk): void {
    for (const [name, value] of Object.entries(chunk)) {
      if (!ofEveryFrame.has(name) && value !== undefined) this.keep(latin1Of(chunk, name), latin1Of(chunk, value));
    }
  }

  /** The finish frames, of which the last one gets the members; a frame of their own where there is none. */
  addTo(finishFrames: readonly Chunk[]): { frames: readonly Chunk[]; alone: Chunk | null } {
    if (this.members.size === 0) return { frames: finishFrames, alone: null };
    const last = finishFrames.at(-1) ?? { choices: [] };
    const added = Array.from(this.members, ([name, value]) => `,${name}:${value}`).join('');
    this.clear();
    // Of two members with one name the later one is read.
    const chunk = parseChunk(asLatin1(`${latin1Of(last, last).slice(0, -1)}${added}}`))!;
    return finishFrames.length === 0
      ? { frames: finishFrames, alone: chunk }
      : { frames: [...finishFrames.slice(0, -1), chunk], alone: null };
  }

  private keep(name: string, value: string): void {
    const known = this.members.get(name);
    const characters = this.characters + value.length - (known === undefined ? -name.length : known.length);
    if (characters > charactersMax) return;
    this.characters = characters;
    this.members.set(name, value);
  }
}

function latin1Of(chunk: Chunk, value: unknown): Latin1Text {
  const text = JSON.stringify(value);
  return encodingOf(chunk) === 'utf8' ? encodeLatin1(text) : asLatin1(text);
}
