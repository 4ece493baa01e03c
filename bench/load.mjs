/**
 * A lean load generator on raw sockets. It runs in a process of its own, takes one job a message and answers with what it
 * counted: complete responses by content-length or terminal chunk, frames of streams, latencies. A job ends by count or by time.
 */
import { connect } from 'node:net';

const lengthField = /\r\ncontent-length: *(\d+)/i;
const terminal = Buffer.from('0\r\n\r\n');
const newline = 10;

class Job {
  constructor(spec) {
    this.spec = spec;
    this.request = Buffer.from(
      `POST ${spec.path} HTTP/1.1\r\nhost: 127.0.0.1:${spec.port}\r\nauthorization: Bearer ${spec.key}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(spec.body)}\r\n\r\n${spec.body}`,
    );
    this.sent = 0;
    this.result = { ok: 0, non200: 0, errors: 0, frames: 0, sample: '' };
    this.latencies = [];
    this.firstFrames = [];
    this.gaps = [];
    this.idle = [];
    this.waiting = [];
    this.connections = [];
    this.over = false;
  }

  async run() {
    const { connections, seconds, rate } = this.spec;
    this.connections = Array.from({ length: connections }, () => new Connection(this));
    await Promise.all(this.connections.map((connection) => connection.opened));
    const startedAt = performance.now();
    await new Promise((resolve) => {
      this.finish = resolve;
      this.deadline = setTimeout(resolve, seconds * 1000);
      if (rate) this.openLoop(rate, startedAt);
      else for (const connection of this.connections) this.next(connection);
    });
    this.over = true;
    clearTimeout(this.deadline);
    clearInterval(this.pacer);
    const elapsed = (performance.now() - startedAt) / 1000;
    const unfinished = this.connections.filter((connection) => connection.busy).length;
    for (const connection of this.connections) connection.socket.destroy();
    return this.summary(elapsed, unfinished);
  }

  /** Requests fall due by the clock, answered or not; a late one counts from when it was due. */
  openLoop(rate, startedAt) {
    this.idle = [...this.connections];
    let due = 0;
    this.pacer = setInterval(() => {
      const now = performance.now();
      while (due < this.spec.count && due < ((now - startedAt) / 1000) * rate) {
        due++;
        const connection = this.idle.pop();
        if (connection) this.send(connection, now);
        else this.waiting.push(now);
      }
    }, 1);
  }

  next(connection) {
    if (this.sent < this.spec.count) this.send(connection, performance.now());
    else if (this.connections.every((each) => !each.busy)) this.finish();
  }

  send(connection, dueAt) {
    this.sent++;
    connection.begin(dueAt);
  }

  /** An answer ended: well, or `failed`. */
  settled(connection, status, failed) {
    if (this.over) return;
    if (failed) this.result.errors++;
    else if (status === 200) this.result.ok++;
    else this.result.non200++;
    if (!failed) this.latencies.push(performance.now() - connection.dueAt);
    if (!this.spec.rate) return this.next(connection);
    const waited = this.waiting.shift();
    if (waited !== undefined) this.send(connection, waited);
    else this.idle.push(connection);
    if (this.sent === this.spec.count && this.connections.every((each) => !each.busy)) this.finish();
  }

  summary(elapsed, unfinished) {
    const { ok, non200, errors, frames, sample } = this.result;
    return {
      ok,
      non200,
      errors,
      unfinished,
      elapsed,
      frames,
      sample,
      perSecond: (ok + non200) / elapsed,
      framesPerSecond: frames / elapsed,
      p50Us: percentile(this.latencies, 0.5),
      p99Us: percentile(this.latencies, 0.99),
      firstFrameP50Us: percentile(this.firstFrames, 0.5),
      gapP99Us: percentile(this.gaps, 0.99),
    };
  }
}

function percentile(valuesMs, share) {
  if (valuesMs.length === 0) return null;
  const sorted = Float64Array.from(valuesMs).sort();
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] * 1000);
}

class Connection {
  constructor(job) {
    this.job = job;
    this.busy = false;
    this.open();
  }

  open() {
    this.socket = connect({ port: this.job.spec.port, host: '127.0.0.1', noDelay: true });
    this.opened = new Promise((resolve) => {
      this.socket.once('connect', resolve);
      this.socket.once('close', resolve);
    });
    const { socket } = this;
    socket.on('data', (bytes) => this.onData(bytes));
    socket.on('error', () => {});
    socket.on('close', () => this.onClose());
  }

  begin(dueAt) {
    this.busy = true;
    this.dueAt = dueAt;
    this.head = null;
    this.status = 0;
    this.remaining = -1;
    this.tail = Buffer.alloc(0);
    this.endsInNewline = false;
    this.lastFrameAt = 0;
    this.socket.write(this.job.request);
  }

  onClose() {
    if (this.job.over) return;
    const wasBusy = this.busy;
    this.busy = false;
    this.open();
    if (wasBusy) void this.opened.then(() => this.job.settled(this, 0, true));
  }

  onData(bytes) {
    if (!this.busy) return;
    let body = bytes;
    if (this.status === 0) {
      const input = this.head ? Buffer.concat([this.head, bytes]) : bytes;
      const end = input.indexOf('\r\n\r\n');
      if (end < 0) {
        this.head = input;
        return;
      }
      const head = input.latin1Slice(0, end);
      this.status = Number(head.slice(9, 12));
      const length = lengthField.exec(head)?.[1];
      this.remaining = length === undefined ? -1 : Number(length);
      body = input.subarray(end + 4);
      if (this.status !== 200) this.job.result.sample ||= input.latin1Slice(0, 600);
    }
    if (this.isComplete(body)) {
      this.busy = false;
      this.job.settled(this, this.status, false);
    }
  }

  isComplete(body) {
    if (this.remaining >= 0) {
      this.remaining -= body.length;
      return this.remaining <= 0;
    }
    if (this.job.spec.stream) this.countFrames(body);
    this.tail =
      body.length >= terminal.length
        ? body.subarray(-terminal.length)
        : Buffer.concat([this.tail, body]).subarray(-terminal.length);
    return this.tail.equals(terminal);
  }

  /** A frame ends in two newlines, which may lie in two packets. */
  countFrames(body) {
    let count = this.endsInNewline && body[0] === newline ? 1 : 0;
    for (let at = body.indexOf('\n\n'); at >= 0; at = body.indexOf('\n\n', at + 2)) count++;
    if (body.length > 0) this.endsInNewline = body[body.length - 1] === newline;
    if (count === 0) return;
    const now = performance.now();
    if (this.lastFrameAt === 0) this.job.firstFrames.push(now - this.dueAt);
    else this.job.gaps.push(now - this.lastFrameAt);
    this.lastFrameAt = now;
    this.job.result.frames += count;
  }
}

process.on('message', (spec) => void new Job(spec).run().then((result) => process.send(result)));
process.on('disconnect', () => process.exit(0));
