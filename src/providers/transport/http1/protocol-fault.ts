/** The upstream does not speak HTTP as it should. */
export class HttpFault extends Error {
  readonly code = 'HTTP_FAULT';
}
