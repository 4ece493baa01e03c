/** The thread that reads large completions. */
import { serveThread } from '../base/side-thread-port.js';
import { collectNow } from '../base/v8-settings.js';
import { excessOf, mainThreadBounds } from '../wire/answer-bounds.js';
import { detachTexts, type Reading, transferOf } from './detach-texts.js';
import { readTaskAnswer, type TaskAnswerToRead } from './read-task-answer.js';
import { type AnswerToRead, readAnswer } from './translation.js';

const collectedBytes = 8 * 1024 * 1024;

serveThread<AnswerToRead | TaskAnswerToRead, Reading>((answer) => {
  const isLarge = answer.bytes.byteLength > collectedBytes;
  const reading = read(answer);
  // Before the text is copied once more: what the scan and the parser made of it is garbage by now.
  if (isLarge) collectNow();
  const result = detachTexts(reading, 'isRewritten' in answer && answer.isRewritten);
  return { result, transfer: transferOf(result) };
});

function read(answer: AnswerToRead | TaskAnswerToRead): Reading {
  const body = Buffer.from(answer.bytes);
  if ('question' in answer) return readTaskAnswer(body, answer.question);
  const excess = answer.isRewritten ? excessOf(body, mainThreadBounds) : null;
  if (excess !== null) return { kind: 'malformed', reason: `its answer ${excess}`, excess: true };
  return readAnswer(body, answer.dialect, answer.terms);
}
