/** What node's parser lets pass in a request's head, but RFC 9112 does not, or what two readers could read in two ways. */
import { type IncomingMessage, METHODS } from 'node:http';

const methods = new Set(METHODS);
/** A name or address and a port, by their characters alone; nothing here depends on it. */
const hostValue = /^[\w.:[\]~!$&'()*+;=%-]*$/;

/** The reason of the 400; undefined where the head is sound. One pass over the headers, since every request pays for it. */
export function headFault(req: IncomingMessage): string | undefined {
  const { rawHeaders, httpVersionMajor, httpVersionMinor } = req;
  if (httpVersionMajor !== 1) return 'only HTTP/1.0 and HTTP/1.1 are spoken here';
  // Methods of RTSP, which the parser knows too.
  if (!methods.has(req.method ?? '')) return 'the method is none of HTTP';
  let hosts = 0;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === 'host') {
      if (++hosts > 1 || !hostValue.test(rawHeaders[i + 1]!)) return 'the Host header is not valid or sent twice';
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      // A body in another coding would be read as what it is not; HTTP/1.0 does not know the header at all.
      if (httpVersionMinor === 0 || rawHeaders[i + 1]!.toLowerCase() !== 'chunked') {
        return 'the only transfer coding is chunked, in HTTP/1.1';
      }
    }
  }
  return hosts === 0 && httpVersionMinor === 1 ? 'the Host header is missing' : undefined;
}
