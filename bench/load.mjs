/**
 * The load generator: raw sockets, request bytes made once, one read buffer for all connections, latencies in typed arrays, so that
 * its own garbage collection does not show in what it measures. It runs as a process of its own, takes one job a message and answers
 * with what it counted. A job ends by count or by time.
 */
import { connect } from 'node:net';
import { percentile } from './statistics.mjs';

const readBuffer = Buffer.allocUnsafeSlow(256 * 1024);
const headMax = 16 * 1024;
const gapsMax = 2_000_000;
const [newline, carriageReturn, zero, digitNine] = [10, 13, 48, 57];
const lengthName = Buffer.from('content-length:');

class Job {
  constructor(spec) {
    this.spec = spec;
    this.requests = (spec.keys ?? [spec.key]).map((key) =>
      Buffer.from(
        `POST ${spec.path} HTTP/1.1\r\nhost: 127.0.0.1:${spec.port}\r\nauthorization: Bearer ${key}\r\n${spec.headers ?? ''}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(spec.body)}\r\n\r\n${spec.body}`,
      ),
    );
    this.sent = 0;
    this.ended = 0;
    this.counts = { ok: 0, non200: 0, errors: 0, frames: 0, sample: '' };
    this.latencies = new Samples(spec.stream ? spec.count : Math.min(spec.count, gapsMax));
    this.firstFrames = new Samples(spec.stream ? spec.count : 0);
    this.gaps = new Samples(spec.stream ? gapsMax : 0);
    this.idle = [];
    this.over = false;
    this.finish = () => {};
  }

  async run() {
    const { connections, seconds, rate } = this.spec;
    const all = Array.from({ length: connections }, () => new Connection(this));
    await Promise.all(all.map((connection) => connection.opened));
    this.startedAt = performance.now();
    this.gapsFrom = this.startedAt + (this.spec.gapsFromSeconds ?? 0) * 1000;
    await new Promise((resolve) => {
      this.finish = resolve;
      this.deadline = setTimeout(resolve, seconds * 1000);
      this.idle = [...all];
      if (rate) this.pacer = setInterval(() => this.sendDue(), 1);
      else for (const connection of all) this.sendNext(connection);
    });
    this.over = true;
    clearTimeout(this.deadline);
    clearInterval(this.pacer);
    const elapsed = (performance.now() - this.startedAt) / 1000;
    const unfinished = all.filter((connection) => connection.busy).length;
    for (const connection of all) connection.socket.destroy();
    return this.summary(elapsed, unfinished);
  }

  /**
   * Requests fall due by the clock, answered or not. One that finds a free connection counts from when it was sent: a tick that came
   * late is the generator's fault. One that finds none counts from when it was due: that is the gateway's.
   */
  sendDue() {
    const now = performance.now();
    const due = Math.min(this.spec.count, ((now - this.startedAt) / 1000) * this.spec.rate);
    while (this.sent < due && this.idle.length > 0) {
      const dueAt = this.startedAt + (this.sent / this.spec.rate) * 1000;
      this.sent++;
      this.idle.pop().begin(this.queued ? dueAt : now);
    }
    this.queued = this.sent < due;
  }

  /** Of the keys in turn. `sent` counts it already. */
  nextRequest() {
    return this.requests[(this.sent - 1) % this.requests.length];
  }

  sendNext(connection) {
    if (this.sent >= this.spec.count) return;
    this.sent++;
    connection.begin(performance.now());
  }

  /** An answer ended: well, or `failed`. */
  settle(connection, failed) {
    if (this.over) return;
    this.ended++;
    if (failed) this.counts.errors++;
    else if (connection.status === 200) this.counts.ok++;
    else this.counts.non200++;
    if (!failed) this.latencies.add(performance.now() - connection.dueAt);
    if (this.ended >= this.spec.count) return this.finish();
    if (!this.spec.rate) return this.sendNext(connection);
    this.idle.push(connection);
    // Answers come more often than ticks at a high rate, so look here too.
    this.sendDue();
  }

  summary(elapsed, unfinished) {
    const [latencies, firstFrames, gaps] = [this.latencies, this.firstFrames, this.gaps].map((each) => each.sorted());
    const us = (sorted, share) => (sorted.length > 0 ? Math.round(percentile(sorted, share) * 1000) : null);
    return {
      ...this.counts,
      started: firstFrames.length,
      sent: this.sent,
      unfinished,
      elapsed,
      perSecond: (this.counts.ok + this.counts.non200) / elapsed,
      framesPerSecond: this.counts.frames / elapsed,
      p50Us: us(latencies, 0.5),
      p99Us: us(latencies, 0.99),
      firstFrameP50Us: us(firstFrames, 0.5),
      firstFrameP99Us: us(firstFrames, 0.99),
      gapP50Us: us(gaps, 0.5),
      gapP99Us: us(gaps, 0.99),
      ...(this.spec.samples && { latenciesUs: [...latencies].map((each) => Math.round(each * 1000)) }),
    };
  }
}

/** Numbers in a typed array of fixed size; what does not fit is left out. */
class Samples {
  constructor(most) {
    this.values = new Float64Array(most);
    this.length = 0;
  }

  add(value) {
    if (this.length < this.values.length) this.values[this.length++] = value;
  }

  sorted() {
    return this.values.subarray(0, this.length).sort();
  }
}

class Connection {
  constructor(job) {
    this.job = job;
    this.busy = false;
    this.open();
  }

  open() {
    const onread = { buffer: readBuffer, callback: (length) => this.onData(length) };
    this.socket = connect({ port: this.job.spec.port, host: '127.0.0.1', noDelay: true, onread });
    const { socket } = this;
    this.opened = new Promise((resolve) => {
      socket.once('connect', resolve);
      socket.once('close', resolve);
    });
    socket.on('error', () => {});
    socket.on('close', () => this.onClose());
  }

  begin(dueAt) {
    this.busy = true;
    this.dueAt = dueAt;
    this.head = null;
    this.status = 0;
    this.remaining = -1;
    this.tail = 0;
    this.endsInNewline = false;
    this.lastFrameAt = 0;
    this.socket.write(this.job.nextRequest());
  }

  onClose() {
    if (this.job.over) return;
    const wasBusy = this.busy;
    this.busy = false;
    this.status = 0;
    this.open();
    if (wasBusy) void this.opened.then(() => this.job.settle(this, true));
  }

  onData(length) {
    if (!this.busy) return true;
    let from = 0;
    let input = readBuffer;
    let end = length;
    if (this.status === 0) {
      if (this.head) {
        input = Buffer.concat([this.head, readBuffer.subarray(0, length)]);
        end = input.length;
      }
      const headEnd = indexOfHeadEnd(input, end);
      if (headEnd < 0) {
        if (end > headMax) this.socket.destroy();
        else this.head = Buffer.from(input.subarray(0, end));
        return true;
      }
      this.status = (input[9] - zero) * 100 + (input[10] - zero) * 10 + (input[11] - zero);
      this.remaining = contentLength(input, headEnd);
      from = headEnd + 4;
      if (this.status !== 200) this.job.counts.sample ||= input.latin1Slice(0, Math.min(end, 600));
    }
    if (this.isComplete(input, from, end)) {
      this.busy = false;
      this.job.settle(this, false);
    }
    return true;
  }

  isComplete(input, from, end) {
    if (this.remaining >= 0) {
      this.remaining -= end - from;
      return this.remaining <= 0;
    }
    if (this.job.spec.stream) this.countFrames(input, from, end);
    // The last five bytes as one number: the body ends with the chunk of length zero.
    for (let at = Math.max(from, end - 5); at < end; at++) this.tail = (this.tail % 0x1_00_00_00_00) * 256 + input[at];
    return this.tail === terminal;
  }

  /** A frame ends in two newlines, which may lie in two packets. */
  countFrames(input, from, end) {
    let count = 0;
    let previous = this.endsInNewline ? newline : 0;
    for (let at = from; at < end; at++) {
      const byte = input[at];
      if (byte === newline && previous === newline) {
        count++;
        previous = 0;
      } else previous = byte;
    }
    if (end > from) this.endsInNewline = previous === newline;
    if (count === 0) return;
    const now = performance.now();
    if (this.lastFrameAt === 0) this.job.firstFrames.add(now - this.dueAt);
    else if (now >= this.job.gapsFrom) this.job.gaps.add(now - this.lastFrameAt);
    this.lastFrameAt = now;
    this.job.counts.frames += count;
  }
}

const terminal = [...Buffer.from('0\r\n\r\n')].reduce((sum, byte) => sum * 256 + byte, 0);

function indexOfHeadEnd(input, end) {
  for (let at = 3; at < end; at++) {
    if (input[at] === newline && input[at - 2] === newline && input[at - 1] === carriageReturn) return at - 3;
  }
  return -1;
}

/** -1 without the field: then the body is chunked. */
function contentLength(input, headEnd) {
  for (let at = 0; at < headEnd; at++) {
    if (input[at] !== newline) continue;
    let i = 0;
    while (i < lengthName.length && (input[at + 1 + i] | 0x20) === (lengthName[i] | 0x20)) i++;
    if (i < lengthName.length) continue;
    let value = 0;
    for (let digit = at + 1 + i; digit < headEnd && input[digit] !== carriageReturn; digit++)
      if (input[digit] >= zero && input[digit] <= digitNine) value = value * 10 + input[digit] - zero;
    return value;
  }
  return -1;
}

process.on('message', (spec) => void new Job(spec).run().then((result) => process.send(result)));
process.on('disconnect', () => process.exit(0));
