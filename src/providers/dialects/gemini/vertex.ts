/** Tells Vertex AI from AI Studio by the address. */

const vertexAddress = /^https?:\/\/[^/]*\baiplatform\b/i;

export function isVertex(baseUrl: string): boolean {
  return vertexAddress.test(baseUrl);
}
