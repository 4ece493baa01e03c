/** What `workload_issuers` accepts. */
import { z } from 'zod';
import { isLoopbackHost } from '../base/ip-address.js';
import { field, fields, text } from '../base/yaml-fields.js';

/** Exact, because the `iss` of a token has to be the same text; http on this machine only. */
const issuerForm = field('the address of an issuer, https:// without query and fragment', (value) => {
  const isText = typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);
  if (!isText || /[?#\s]/.test(value)) return undefined;
  const { protocol, hostname, username, password } = new URL(value);
  if (username !== '' || password !== '') return undefined;
  return protocol === 'https:' || isLoopbackHost(hostname) ? value : undefined;
});
const issuerWithKeys = fields({ issuer: issuerForm, jwks_file: text.nullish() });

export interface WorkloadIssuer {
  readonly issuer: string;
  /** Where its keys are, if it cannot be reached. */
  readonly jwksFile: string | null;
}

/** The text alone, or a mapping. */
export const workloadIssuer = z.unknown().transform((value, context): WorkloadIssuer => {
  const isMapping = typeof value === 'object' && value !== null;
  const checked = isMapping ? issuerWithKeys.safeParse(value) : issuerForm.safeParse(value);
  if (checked.success) {
    if (typeof checked.data === 'string') return { issuer: checked.data, jwksFile: null };
    return { issuer: checked.data.issuer, jwksFile: checked.data.jwks_file ?? null };
  }
  for (const { message, path } of checked.error.issues) context.addIssue({ code: 'custom', message, path: [...path] });
  return z.NEVER;
});

export const publicIssuers: WorkloadIssuer[] = [
  'https://token.actions.githubusercontent.com',
  'https://gitlab.com',
  'https://accounts.google.com',
].map((issuer) => ({ issuer, jwksFile: null }));
