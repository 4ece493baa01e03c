/** The hot path's address. */
export const chatPath = '/v1/chat/completions';
const chatPathWithQuery = `${chatPath}?`;

/** Cheap for the usual case: one comparison of equal strings. */
export function isChatPath(url: string | undefined): boolean {
  return url === chatPath || url?.startsWith(chatPathWithQuery) === true;
}
