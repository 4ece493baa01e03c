/**
 * Azure's frames are OpenAI's, but for choices that carry only what the content filter found, and no `delta` (wire 6). They
 * are given an empty one, as every client of OpenAI expects; all other frames are passed on as they are.
 */
import type { StreamTranslator } from '../adapter.js';
import { isFields } from '../messages/items.js';
import { readEvent } from '../messages/json-string.js';

const delta = '"delta":{';

export class FilteredStream implements StreamTranslator {
  /** Where the last frame had its delta: most have it in the same place. */
  private at = 0;

  onEvent(data: string, _event: string, emit: (chunk: string) => void): void {
    if (data.slice(this.at, this.at + delta.length) !== delta) {
      this.at = Math.max(0, data.indexOf(delta));
      if (this.at === 0) {
        emit(withDeltas(data));
        return;
      }
    }
    emit(data);
  }

  /** Azure ends its streams as OpenAI does. */
  onEnd(): void {}
}

function withDeltas(data: string): string {
  const read = readEvent(data);
  if (read === null || !isFields(read.value) || !Array.isArray(read.value.choices)) return data;
  const choices = read.value.choices.filter(isFields);
  if (choices.every(({ delta }) => isFields(delta))) return data;
  for (const choice of choices) if (!isFields(choice.delta)) choice.delta = {};
  return read.write(read.value);
}
