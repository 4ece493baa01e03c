/**
 * A provider that uses almost no CPU: prebuilt answers on raw sockets. A marker in the body chooses the answer: `@paced` sends a frame
 * every 5 ms, `@calm` one every 50 ms, anything else one JSON body. The path chooses the API of the answer. A credential that begins with
 * `bad-key` is refused. Prints its port.
 */
import { createServer } from 'node:net';
import { doors } from './doors.mjs';

const model = 'gpt-4o-mini';
const sentence = 'A breaker lets one probe through after its pause; when that one is answered, it closes again. ';

const usage = {
  prompt_tokens: 120,
  completion_tokens: 100,
  total_tokens: 220,
  prompt_tokens_details: { cached_tokens: 0 },
};
const jsonBody = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_700_000_000,
  model,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: sentence.repeat(4), refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage,
});
const wholeAnswer = (body) =>
  Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
const jsonAnswer = wholeAnswer(jsonBody);
const refusal = '{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error"}}';
const refusalAnswer = Buffer.from(
  `HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: ${refusal.length}\r\n\r\n${refusal}`,
);
const streamHead = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n',
);

function frame(choices, extra = {}) {
  const fields = {
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model,
    choices,
    ...extra,
  };
  return chunk(`data: ${JSON.stringify(fields)}\n\n`);
}

function chunk(text) {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}

const delta = (fields, finish = null) => [{ index: 0, delta: fields, logprobs: null, finish_reason: finish }];

function framesOf(wordCount) {
  const words = Array.from({ length: wordCount }, (_, i) => frame(delta({ content: ` word${i}` }), { usage: null }));
  return [
    Buffer.concat([streamHead, frame(delta({ role: 'assistant', content: '' }), { usage: null })]),
    ...words,
    frame(delta({}, 'stop'), { usage: null }),
    frame([], { usage }),
    Buffer.concat([chunk('data: [DONE]\n\n'), Buffer.from('0\r\n\r\n')]),
  ];
}

/** The events of another client API, as many a stream as a chat has. */
function eventsOf(events) {
  const [first, ...rest] = events.map((event) => chunk(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
  return [Buffer.concat([streamHead, first]), ...rest, Buffer.from('0\r\n\r\n')];
}

/** Streams are dealt out to one bucket a millisecond, so that not all of them write at the same moment. */
class Pace {
  constructor(gapMs, frames) {
    this.frames = frames;
    this.buckets = Array.from({ length: gapMs }, () => new Set());
    this.count = 0;
    this.tick = 0;
    this.timer = undefined;
  }

  start(connection) {
    connection.nextFrame = 1;
    connection.bucket = this.buckets[this.count++ % this.buckets.length];
    connection.bucket.add(connection);
    connection.socket.write(this.frames[0]);
    if (this.timer) return;
    this.tick = 0;
    this.startedAt = performance.now();
    this.timer = setInterval(() => this.onTick(), 1);
  }

  /** Catches up with the clock, because a timer of 1 ms fires less often than that. */
  onTick() {
    const due = performance.now() - this.startedAt;
    while (this.tick < due) {
      const bucket = this.buckets[this.tick++ % this.buckets.length];
      for (const connection of bucket) {
        connection.socket.write(this.frames[connection.nextFrame++]);
        if (connection.nextFrame === this.frames.length) bucket.delete(connection);
      }
    }
    if (this.buckets.some(({ size }) => size > 0)) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}

const paced = new Pace(5, framesOf(99));
const calm = new Pace(50, framesOf(160));
/** By the path of the request. */
const others = Object.values(doors).map(({ path, answer, events }) => ({
  start: `POST ${path} `,
  answer: wholeAnswer(JSON.stringify(answer)),
  paced: new Pace(5, eventsOf(events(99))),
}));

const lengthField = /content-length: *(\d+)/i;

class Connection {
  constructor(socket) {
    this.socket = socket;
    this.pending = null;
    this.bucket = null;
    this.nextFrame = 0;
  }

  onData(bytes) {
    let input = this.pending ? Buffer.concat([this.pending, bytes]) : bytes;
    this.pending = null;
    while (input.length > 0) {
      const headEnd = input.indexOf('\r\n\r\n');
      if (headEnd < 0) break;
      const head = input.latin1Slice(0, headEnd);
      const length = Number(lengthField.exec(head)?.[1] ?? 0);
      const end = headEnd + 4 + length;
      if (input.length < end) break;
      const other = others.find(({ start }) => input.latin1Slice(0, start.length) === start);
      if (head.includes('Bearer bad-key')) this.socket.write(refusalAnswer);
      else this.answer(input.subarray(headEnd + 4, end), other);
      input = input.subarray(end);
    }
    if (input.length > 0) this.pending = input;
  }

  answer(body, other) {
    if (body.includes('@paced')) (other?.paced ?? paced).start(this);
    else if (other) this.socket.write(other.answer);
    else if (body.includes('@calm')) calm.start(this);
    else this.socket.write(jsonAnswer);
  }
}

const server = createServer({ noDelay: true }, (socket) => {
  const connection = new Connection(socket);
  socket.on('data', (bytes) => connection.onData(bytes));
  socket.on('error', () => {});
  socket.on('close', () => connection.bucket?.delete(connection));
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 2_048 }, () => console.log(`port ${server.address().port}`));
