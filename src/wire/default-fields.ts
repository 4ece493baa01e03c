/** Which fields of a chat request cannot have a default in a name of the operator. */

/** A name has settings of its own for these, or only the client can say them. */
const ownFields: ReadonlySet<string> = new Set(['model', 'messages', 'stream', 'fallback', 'provider']);
/** Other servers take credentials and addresses in the body. They do not belong into settings that operators read. */
const credentialName = new RegExp(
  `^(.*[_-])?(${[
    ...['api[_-]?key', 'api[_-]?base', 'base[_-]?url', 'authorization', 'access[_-]?token', 'auth[_-]?token', 'token'],
    ...[
      'secret',
      'password',
      'credentials?',
      '(access|private|secret|signing)[_-]?key([_-]?id)?',
      'service[_-]?account',
    ],
  ].join('|')})$`,
  'i',
);

/** What is wrong with a default of this field, and what to do; null where it can have one. */
export function whyNoDefault(field: string): string | null {
  if (ownFields.has(field)) return `\`${field}\` cannot have a default. Leave it out.`;
  if (!credentialName.test(field)) return null;
  return `\`${field}\` is a credential, which no request may carry. Leave it out, and set it under \`providers\` in the configuration.`;
}
