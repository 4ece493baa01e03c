/** An authenticator app (RFC 6238), written from the standard and not with the gateway's library. */
import { createHmac } from 'node:crypto';
import { registerSecret } from './secrets.js';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code that an app with this secret (in base 32) shows at a time, `steps` half minutes later. */
export function codeAt(secret: string, nowMs: number, steps = 0): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(nowMs / 30_000) + steps));
  const mac = createHmac('sha1', bytesOf(secret)).update(counter).digest();
  const truncated = mac.readUInt32BE(mac.at(-1)! & 15) & 0x7fff_ffff;
  return String(truncated % 1_000_000).padStart(6, '0');
}

function bytesOf(secret: string): Buffer {
  const bits = Array.from(secret, (letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const bytes = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  registerSecret('the secret of an authenticator app', secret);
  registerSecret('the secret of an authenticator app, as the gateway uses it', bytes.toString('latin1'));
  return bytes;
}
