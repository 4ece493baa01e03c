import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Route } from '../../catalogue/route.js';
import type { Transport, UpstreamCall, UpstreamHandler } from '../transport/transport.js';
import { createSandbox } from './sandbox.js';

const clock = { now: () => 1_700_000_000_000, monotonicMs: () => 0 };
const routeOf = (upstreamModel: string) =>
  ({ id: `sandbox/lodestone/${upstreamModel}/global`, upstreamModel }) as unknown as Route;

/** Records what the sandbox sends; pauses after the given number of pieces. */
class Recorder implements UpstreamHandler {
  status: number | null = null;
  headers: readonly unknown[] = [];
  pieces: string[] = [];
  times: number[] = [];
  ended = false;
  error: (Error & { code?: string }) | null = null;
  resume = () => {};
  constructor(private pauseAfter = Number.POSITIVE_INFINITY) {}
  onHeaders(status: number, headers: readonly unknown[], resume: () => void): void {
    this.status = status;
    this.headers = headers;
    this.resume = resume;
  }
  onData(chunk: Buffer): boolean {
    this.pieces.push(chunk.toString());
    this.times.push(Date.now());
    return this.pieces.length < this.pauseAfter;
  }
  onEnd(): void {
    this.ended = true;
  }
  onError(error: Error & { code?: string }): void {
    this.error = error;
  }
  unpause(): void {
    this.pauseAfter = Number.POSITIVE_INFINITY;
    this.resume();
  }
  get json() {
    return JSON.parse(this.pieces.join(''));
  }
  get frames() {
    return this.pieces.map((piece) => {
      expect(piece).toMatch(/^data: .+\n\n$/s);
      return piece === 'data: [DONE]\n\n' ? '[DONE]' : JSON.parse(piece.slice(6));
    });
  }
  get text(): string {
    return this.frames.map((frame) => frame.choices?.[0]?.delta?.content ?? '').join('');
  }
}

let sandbox: Transport;
beforeEach(() => {
  vi.useFakeTimers();
  sandbox = createSandbox({ clock });
});
afterEach(() => {
  expect(vi.getTimerCount(), 'no timer is left behind').toBe(0);
  vi.useRealTimers();
});

function call(
  model: string,
  request: object,
  stream = false,
  recorder = new Recorder(),
): Recorder & { call: UpstreamCall } {
  const body = Buffer.from(
    JSON.stringify({ model, messages: [{ role: 'user', content: 'one two three' }], ...request }),
  );
  const started = sandbox.dispatch(
    { route: routeOf(model), path: '/chat/completions', body, stream, headers: [] },
    recorder,
  );
  expect(recorder.status, 'nothing is called before dispatch has returned').toBeNull();
  return Object.assign(recorder, { call: started });
}

function answer(model: string, request: object, stream = false): Recorder {
  const recorder = call(model, request, stream);
  vi.advanceTimersByTime(60_000);
  expect(recorder.ended).toBe(true);
  return recorder;
}

describe('echo', () => {
  it('answers with the last user message, the same each time, and leaves the counting of tokens to the gateway', () => {
    const messages = [
      { role: 'user', content: 'first' },
      {
        role: 'user',
        content: [{ type: 'text', text: ' last\n' }, { type: 'image_url' }, { type: 'text', text: 'words ' }],
      },
      { role: 'assistant', content: 'no' },
    ];
    const { status, headers, json } = answer('echo', { messages });
    expect([status, headers]).toEqual([200, ['content-type', 'application/json']]);
    expect(json).toMatchObject({
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'echo',
      choices: [{ index: 0, message: { role: 'assistant', content: ' last\nwords ' }, finish_reason: 'stop' }],
    });
    expect(json.usage).toBeUndefined();
    expect(answer('echo', { messages }).json).toEqual(json);
    expect(answer('echo', { messages }, true).text).toBe(' last\nwords ');
  });

  it('streams role, words at a set pace without bursts, finish and [DONE]', () => {
    const recorder = answer('echo', { stream_options: { include_usage: true } }, true);
    expect(recorder.headers).toEqual(['content-type', 'text/event-stream']);
    const frames = recorder.frames;
    expect(frames.map((frame) => frame.choices?.[0] ?? frame)).toMatchObject([
      { delta: { role: 'assistant', content: '' }, finish_reason: null },
      { delta: { content: 'one ' } },
      { delta: { content: 'two ' } },
      { delta: { content: 'three' } },
      { delta: {}, finish_reason: 'stop' },
      '[DONE]',
    ]);
    expect(new Set(frames.slice(0, -1).map((frame) => frame.id)).size).toBe(1);
    const gaps = recorder.times.slice(1).map((time, index) => time - recorder.times[index]!);
    expect(new Set(gaps)).toEqual(new Set([15]));
  });

  it.each([
    [{ max_tokens: 2 }, 'one two ', 'length'],
    [{ max_completion_tokens: 1, max_tokens: 2 }, 'one ', 'length'],
    [{ max_tokens: 3 }, 'one two three', 'stop'],
    [{ stop: 'two' }, 'one ', 'stop'],
    [{ stop: ['three', 'e t'] }, 'on', 'stop'],
    [{ stop: 'one' }, '', 'stop'],
    [{ response_format: { type: 'json_object' } }, '{"echo":"one two three"}', 'stop'],
    [{ messages: [{ role: 'user', content: '' }] }, 'Hello from the Lodestone sandbox.', 'stop'],
  ])('honours %j', (request, content, reason) => {
    expect(answer('echo', request).json.choices[0]).toMatchObject({ message: { content }, finish_reason: reason });
    const streamed = answer('echo', request, true);
    expect(streamed.text).toBe(content);
    expect(streamed.frames.at(-2).choices[0].finish_reason).toBe(reason);
  });

  it.each([[{ type: 'function', function: { name: 'weather' } }], ['required']])(
    'calls the function that tool_choice forces: %j',
    (tool_choice) => {
      const request = { tool_choice, tools: [{ type: 'function', function: { name: 'weather' } }] };
      expect(answer('echo', request).json.choices[0]).toMatchObject({
        message: { content: null, tool_calls: [{ type: 'function', function: { name: 'weather', arguments: '{}' } }] },
        finish_reason: 'tool_calls',
      });
      const deltas = answer('echo', request, true).frames.map(
        (frame) => frame.choices?.[0].delta.tool_calls?.[0].function,
      );
      expect(deltas).toEqual([
        undefined,
        { name: 'weather', arguments: '' },
        { arguments: '{}' },
        undefined,
        undefined,
      ]);
    },
  );

  it('gives n choices, and refuses more than it can', () => {
    expect(answer('echo', { n: 3 }).json.choices.map((choice: { index: number }) => choice.index)).toEqual([0, 1, 2]);
    const finished = answer('echo', { n: 2 }, true).frames.filter(
      (frame) => frame.choices?.[0].finish_reason === 'stop',
    );
    expect(finished.map((frame) => frame.choices[0].index)).toEqual([0, 1]);
    expect(answer('echo', { n: 1e9 })).toMatchObject({ status: 400, json: { error: { param: 'n' } } });
    expect(answer('echo', { response_format: { type: 'json_schema' } })).toMatchObject({ status: 400 });
  });

  it('ends a long echo within seconds, and does not parse a body over 256 KiB', () => {
    const words = 'word '.repeat(50_000);
    const long = answer('echo', { messages: [{ role: 'user', content: words }] }, true);
    expect(long.text).toBe(words);
    expect(long.pieces.length).toBeLessThan(410);
    const huge = answer('echo', { messages: [{ role: 'user', content: 'x'.repeat(300_000) }] });
    expect(huge.json.choices[0].message.content).toMatch(/^The sandbox received a request of 3\d{5} bytes/);
  });
});

describe('rehearsed failures', () => {
  it('slow: a first byte after 2 s, then a piece every 200 ms', () => {
    const recorder = call('slow', {}, true);
    vi.advanceTimersByTime(1999);
    expect(recorder.status).toBeNull();
    vi.advanceTimersByTime(1);
    expect(recorder).toMatchObject({ status: 200, pieces: { length: 1 } });
    vi.advanceTimersByTime(199);
    expect(recorder.pieces).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(recorder.pieces).toHaveLength(2);
    vi.advanceTimersByTime(10_000);
    expect(recorder.ended).toBe(true);
  });

  it('timeout: never answers, and holds no timer', () => {
    const recorder = call('timeout', {});
    vi.advanceTimersByTime(3_600_000);
    expect(recorder).toMatchObject({ status: null, ended: false, error: null });
    recorder.call.abort();
  });

  it('stall: some content, then silence without end or error', () => {
    const streamed = call('stall', {}, true);
    const short = call('stall', { messages: [{ role: 'user', content: 'one' }] }, true);
    const whole = call('stall', {});
    vi.advanceTimersByTime(3_600_000);
    expect(streamed).toMatchObject({ status: 200, text: 'one two three', ended: false, error: null });
    for (const { frames } of [streamed, short]) {
      expect(frames.map((frame) => frame.choices[0].finish_reason)).toEqual(frames.map(() => null));
    }
    expect(whole).toMatchObject({ status: 200, ended: false, error: null });
    expect(() => whole.json).toThrow(SyntaxError);
  });

  it.each([
    ['capacity', 429, /queue is full/],
    ['reject', 400, /Unsupported value/],
    ['quota', 429, /daily token quota is spent/],
    ['server-error', 500, /server had an error/],
    ['no-such', 404, /does not exist/],
    ['__proto__', 404, /does not exist/],
  ])('%s: %i', (model, status, message) => {
    for (const stream of [false, true]) {
      const recorder = answer(model, {}, stream);
      expect(recorder).toMatchObject({ status, headers: ['content-type', 'application/json'] });
      expect(recorder.json.error.message).toMatch(message);
    }
  });

  it('flaky: every second call fails with 503', () => {
    expect([1, 2, 3, 4].map(() => answer('flaky', {}).status)).toEqual([200, 503, 200, 503]);
  });

  it('answers a body that is no JSON with a 400', () => {
    const recorder = new Recorder();
    const body = Buffer.from('{"messages":');
    sandbox.dispatch({ route: routeOf('echo'), path: '/', body, stream: false, headers: [] }, recorder);
    vi.advanceTimersByTime(10);
    expect(recorder.status).toBe(400);
  });
});

describe('the seam', () => {
  it('stops while it is paused, goes on at its pace after resume, and ends only then', () => {
    const recorder = call('echo', {}, true, new Recorder(2));
    vi.advanceTimersByTime(60_000);
    expect(recorder.pieces).toHaveLength(2);
    recorder.unpause();
    expect(recorder.pieces, 'no burst').toHaveLength(2);
    vi.advanceTimersByTime(15);
    expect(recorder.pieces).toHaveLength(3);
    vi.advanceTimersByTime(60_000);
    expect(recorder).toMatchObject({ ended: true, text: 'one two three' });
  });

  it('does not end before the last piece was taken', () => {
    const recorder = call('echo', {}, false, new Recorder(1));
    vi.advanceTimersByTime(60_000);
    expect(recorder).toMatchObject({ pieces: { length: 1 }, ended: false });
    recorder.unpause();
    expect(recorder.ended).toBe(true);
  });

  it.each([0, 1, 40])('calls nothing after abort, %i ms into the answer', (ms) => {
    const recorder = call('echo', {}, true);
    vi.advanceTimersByTime(ms);
    const before = recorder.pieces.length;
    recorder.call.abort();
    expect(vi.getTimerCount()).toBe(0);
    recorder.unpause();
    vi.advanceTimersByTime(60_000);
    expect(recorder).toMatchObject({ pieces: { length: before }, ended: false, error: null });
  });

  it('fails what is still running when it is closed', async () => {
    const [silent, streaming] = [call('timeout', {}), call('echo', {}, true)];
    const done = answer('echo', {});
    const late = call('slow', {}, true);
    await sandbox.close();
    expect(silent.error?.code).toBe('SANDBOX_CLOSED');
    expect(late.error?.code).toBe('SANDBOX_CLOSED');
    expect([streaming.error, done.error]).toEqual([null, null]);
  });
});

it('reports what it read from its prompt cache, whole and streamed', () => {
  expect(answer('cached', {}).json.usage).toMatchObject({ prompt_tokens_details: { cached_tokens: 0 } });
  const { usage } = answer('cached', {}, true).frames.find((frame) => frame.usage);
  expect(usage).toEqual({
    ...usage,
    completion_tokens: 3,
    prompt_tokens_details: { cached_tokens: usage.prompt_tokens },
  });
});
