/** The counting thread. Only it loads the tokenizer. */
import { serveThread } from '../../base/side-thread-port.js';
import { type CountedRequest, countPrompt } from './count-messages.js';
import { type CountedPiece, countPiece } from './count-pieces.js';
import { countText } from './count-text.js';
import type { CountRequest, CountResult, PieceRequest } from './counter.js';
import { textOf } from './least-tokens.js';

serveThread<CountRequest | PieceRequest, CountResult | CountedPiece>((request) => {
  if ('piece' in request) return { result: countPiece(request.piece) };
  const { members, delivered, encoding } = request;
  const prompt = JSON.parse(`{${decode(members, encoding)}}`) as CountedRequest;
  return {
    result: { promptTokens: countPrompt(prompt, countText), completionTokens: countText(textOf(delivered)) },
  };
});

function decode(text: string | Uint8Array, encoding: 'latin1' | 'utf8'): string {
  if (typeof text !== 'string') return Buffer.from(text).toString('utf8');
  return encoding === 'latin1' ? Buffer.from(text, 'latin1').toString('utf8') : text;
}
