/** A mail server for tests: keeps what it accepts, and can be silent or refuse. */
import { createServer, type Socket } from 'node:net';
import { vi } from 'vitest';

interface ReceivedMail {
  /** The envelope, without angle brackets. */
  from: string;
  to: string[];
  /** The headers as they came, and the text decoded. */
  head: string;
  text: string;
}

export interface SmtpServer {
  port: number;
  mails: ReceivedMail[];
  /** What clients have shown with AUTH PLAIN, decoded. */
  logins: string[];
  /** `silent`: accepts connections and says nothing until it changes. `refusing`: refuses every text of a mail, and repeats it. */
  mood: 'friendly' | 'silent' | 'refusing';
  /** The mails to one address, once there are so many. */
  mailsTo(address: string, count: number): Promise<ReceivedMail[]>;
  close(): Promise<void>;
}

export async function startSmtpServer(): Promise<SmtpServer> {
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    void converse(socket, server);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const server: SmtpServer = {
    port: (listener.address() as { port: number }).port,
    ...{ mails: [], logins: [], mood: 'friendly' },
    async mailsTo(address, count) {
      const found = () => server.mails.filter(({ to }) => to.includes(address));
      await vi.waitUntil(() => found().length >= count, { timeout: 30_000 });
      return found();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
  return server;
}

async function converse(socket: Socket, server: SmtpServer): Promise<void> {
  const say = (line: string) => void socket.write(`${line}\r\n`);
  while (server.mood === 'silent' && !socket.destroyed) await new Promise((resolve) => setTimeout(resolve, 20));
  say('220 mail.test ESMTP');
  let [received, from, to]: [string, string, string[]] = ['', '', []];
  let inText = false;
  const answers: Record<string, (rest: string) => void> = {
    EHLO: () => say('250-mail.test\r\n250-AUTH PLAIN\r\n250 8BITMIME'),
    AUTH: (rest) => {
      server.logins.push(Buffer.from(rest.replace('PLAIN ', ''), 'base64').toString());
      say('235 welcome');
    },
    MAIL: (rest) => {
      [from, to] = [addressIn(rest), []];
      say('250 ok');
    },
    RCPT: (rest) => {
      to.push(addressIn(rest));
      say('250 ok');
    },
    DATA: () => {
      inText = true;
      say('354 go on');
    },
    QUIT: () => void socket.end('221 bye\r\n'),
  };
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
    for (;;) {
      const end = received.indexOf(inText ? '\r\n.\r\n' : '\r\n');
      if (end < 0) return;
      const part = received.slice(0, end);
      received = received.slice(end + (inText ? 5 : 2));
      if (inText) {
        inText = false;
        if (server.mood === 'refusing') say(`554 not wanted: ${decoded(part).replace(/\s+/g, ' ')}`);
        else {
          server.mails.push({ from, to, head: part.split('\r\n\r\n', 1)[0]!, text: decoded(part) });
          say('250 accepted');
        }
      } else {
        const [verb = '', ...rest] = part.split(' ');
        (answers[verb.toUpperCase()] ?? (() => say('502 what?')))(rest.join(' '));
      }
    }
  });
}

function addressIn(text: string): string {
  return /<([^>]*)>/.exec(text)?.[1] ?? '';
}

/** The text of a mail of one part, plain or quoted-printable. */
function decoded(mail: string): string {
  const body = mail.slice(mail.indexOf('\r\n\r\n') + 4);
  if (!/^content-transfer-encoding: quoted-printable/im.test(mail)) return body;
  return body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
