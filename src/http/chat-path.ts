/** The path of chat completions, which bypasses Fastify. */
export const chatPath = '/v1/chat/completions';
const chatPathWithQuery = `${chatPath}?`;

/** Usually one comparison of equal strings, because every request pays for it. */
export function isChatPath(url: string | undefined): boolean {
  return url === chatPath || url?.startsWith(chatPathWithQuery) === true;
}
