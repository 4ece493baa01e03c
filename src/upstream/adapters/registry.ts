/** The dialects that this version speaks, one line each. */
export const spokenDialects = ['openai', 'sandbox'] as const;
