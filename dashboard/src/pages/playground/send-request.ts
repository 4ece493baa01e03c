/** Sends one request of the playground, reads its answer as it arrives, and measures the times that a client sees. */
import { isApiError, send } from '../../api/client.js';
import type { CallPiece, Fields, PlaygroundDoor, Reading, Receipt, Usage } from './doors/door.js';
import type { Failure, PlaygroundRequest, ToolCall } from './request.js';

/** How an answer ended: whole, by the reader's Stop, by a connection that broke, or by an error of the gateway. */
type Ending = 'complete' | 'stopped' | 'lost' | 'failed';

export interface Outcome {
  ending: Ending;
  generationId: string | null;
  /** Where a failure has no other id. */
  requestId: string | null;
  model: string;
  receipt: Partial<Receipt> | null;
  usage: Usage | null;
  finishReason: string | null;
  firstByteMs: number | null;
  totalMs: number;
  overheadMs: number | null;
  /** The receipt was read from the history, because the answer did not bring it. */
  recovered: boolean;
}

interface Answer {
  text: string;
  reasoning: string;
  calls: readonly ToolCall[];
}

export interface SendOptions {
  signal: AbortSignal;
  onAnswer: (answer: Answer) => void;
}

export interface Sent {
  outcome: Outcome | null;
  failure: Failure | null;
}

const noOutcome: Omit<Outcome, 'model'> = {
  ...{ ending: 'complete', generationId: null, requestId: null, receipt: null, usage: null, finishReason: null },
  ...{ firstByteMs: null, totalMs: 0, overheadMs: null, recovered: false },
};

const lostMessage =
  'The connection to the gateway broke before the answer was complete. It may have been restarted. What arrived is kept here. ' +
  'Send the message again when the gateway is back; what this attempt cost is listed under Usage.';

export async function sendRequest(
  door: PlaygroundDoor,
  request: PlaygroundRequest,
  { signal, onAnswer }: SendOptions,
): Promise<Sent> {
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  const body = { ...door.body(request), ...(request.stream && door.streamFields) };
  let response: Response;
  try {
    response = await send(`playground/${door.name}`, { method: 'POST', body, signal });
  } catch (error) {
    const failed = { ...noOutcome, model: request.model, totalMs: elapsed() };
    if (signal.aborted) return { outcome: { ...failed, ending: 'stopped' }, failure: null };
    const requestId = isApiError(error) ? error.requestId : null;
    return { outcome: { ...failed, ending: 'failed', requestId }, failure: failureOf(error) };
  }
  const outcome: Outcome = {
    ...{ ...noOutcome, model: request.model },
    generationId: response.headers.get('x-generation-id'),
    overheadMs: headerNumber(response, 'x-router-overhead-ms'),
  };
  const answer = new AnswerParts();
  let failure: Failure | null = null;
  const take = (reading: Reading) => {
    outcome.firstByteMs ??= elapsed();
    outcome.receipt = reading.receipt ?? outcome.receipt;
    outcome.usage = reading.usage ?? outcome.usage;
    outcome.finishReason = reading.finishReason ?? outcome.finishReason;
    if (reading.error !== undefined) failure = { message: reading.error };
    if (answer.add(reading)) onAnswer(answer.current());
  };
  try {
    if (request.stream && response.body) {
      const isWhole = await readStream(door, response.body, take);
      if (!isWhole && failure === null) outcome.ending = 'lost';
    } else {
      take(door.readAnswer((await response.json()) as Fields));
    }
  } catch {
    outcome.ending = signal.aborted ? 'stopped' : 'lost';
  }
  outcome.totalMs = elapsed();
  if (failure !== null) outcome.ending = 'failed';
  if (outcome.ending === 'lost') failure = { message: lostMessage, lost: true };
  return { outcome, failure };
}

/** True where the stream reached its end, and not only the connection. */
async function readStream(
  door: PlaygroundDoor,
  body: ReadableStream<Uint8Array>,
  take: (reading: Reading) => void,
): Promise<boolean> {
  let isWhole = false;
  for await (const data of dataLines(body)) {
    if (data === '[DONE]') isWhole = true;
    if (!data.startsWith('{')) continue;
    const reading = door.readEvent(JSON.parse(data) as Fields);
    isWhole ||= reading.isEnd === true;
    take(reading);
  }
  return isWhole;
}

async function* dataLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data: ')) yield line.slice('data: '.length).trimEnd();
  }
}

/** Puts the pieces of an answer together. */
class AnswerParts {
  private text = '';
  private reasoning = '';
  private readonly calls = new Map<string, ToolCall>();

  /** False where the reading adds nothing that is shown. */
  add({ text = '', reasoning = '', calls = [] }: Reading): boolean {
    this.text += text;
    this.reasoning += reasoning;
    for (const piece of calls) this.addCall(piece);
    return text !== '' || reasoning !== '' || calls.length > 0;
  }

  current(): Answer {
    return { text: this.text, reasoning: this.reasoning, calls: [...this.calls.values()] };
  }

  private addCall({ key, id, name, arguments: json = '' }: CallPiece): void {
    const known = this.calls.get(key) ?? { id: id ?? key, name: name ?? '', arguments: '' };
    this.calls.set(key, { ...known, ...(name !== undefined && { name }), arguments: known.arguments + json });
  }
}

function failureOf(error: unknown): Failure {
  if (!isApiError(error)) return { message: error instanceof Error ? error.message : String(error) };
  const { providers_attempted: attempted, candidates_remaining: remaining } = error.body;
  const parts = [
    error.status > 0 && `HTTP ${error.status}`,
    error.code,
    Array.isArray(attempted) && attempted.length > 0 && `tried ${attempted.join(', ')}`,
    typeof remaining === 'number' && `${remaining} routes left`,
  ].filter(Boolean);
  return { message: error.message, ...(parts.length > 0 && { detail: parts.join(' · ') }) };
}

function headerNumber(answer: Response, name: string): number | null {
  const text = answer.headers.get(name);
  return text === null ? null : Number(text);
}
