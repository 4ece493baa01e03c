/** The counting thread. Only it loads the tokenizer. */
import { serveThread } from '../../base/side-thread-port.js';
import { type CountedPiece, countPiece } from './count-pieces.js';
import { countMembers, countRequestBytes, isLargeRequest } from './count-request.js';
import { countText } from './count-text.js';
import type { CountRequest, CountResult, PieceRequest } from './counter.js';
import { textOf } from './least-tokens.js';

serveThread<CountRequest | PieceRequest, CountResult | CountedPiece>(
  (request) => {
    if ('piece' in request) return { result: countPiece(request.piece) };
    const { members, delivered, encoding } = request;
    const prompt = typeof members === 'string' ? countMembers(members, encoding) : countRequestBytes(members);
    return { result: { ...prompt, completionTokens: countText(textOf(delivered)) } };
  },
  String,
  (request) => 'members' in request && isLargeRequest(request.members),
);
