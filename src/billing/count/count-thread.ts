/** The counting thread: it alone loads the tokenizer (over 100 MB), and only when an answer came without usage. */
import { serveThread } from '../../base/side-thread-port.js';
import { countPrompt } from './count-messages.js';
import { countText } from './count-text.js';
import type { CountRequest, CountResult } from './counter.js';

serveThread<CountRequest, CountResult>(({ members, delivered, encoding }) => {
  const prompt = JSON.parse(`{${decode(members, encoding)}}`) as { messages?: unknown; tools?: unknown };
  return {
    result: {
      promptTokens: countPrompt(prompt, countText),
      completionTokens: countText(JSON.parse(`"${decode(delivered, 'latin1')}"`) as string),
    },
  };
});

function decode(text: string | Uint8Array, encoding: 'latin1' | 'utf8'): string {
  if (typeof text !== 'string') return Buffer.from(text).toString('utf8');
  return encoding === 'latin1' ? Buffer.from(text, 'latin1').toString('utf8') : text;
}
