/** A credential of an account or a project at a provider, as the request path holds it: without its secret, which is sealed. */
import type { StatedPolicy } from '../base/data-policy.js';
import type { SealedSecret } from '../base/sealed-secret.js';

/** Whether the operator's credential is used beside it: not at all, after it, or before it. */
export const credentialUses = ['only', 'first', 'last'] as const;
export type CredentialUse = (typeof credentialUses)[number];

export interface OwnCredential {
  readonly id: string;
  readonly accountId: string;
  /** null for the whole account. */
  readonly projectId: string | null;
  readonly provider: string;
  readonly name: string;
  readonly use: CredentialUse;
  /** `{creator}/{model}` and `{creator}/*`; null = every model of the provider. */
  readonly models: readonly string[] | null;
  /** The owner's own contract with the provider. */
  readonly agreement: (StatedPolicy & { readonly reference?: string | null }) | null;
  /** The first 8 hex digits of the SHA-256 of the secret's canonical JSON. */
  readonly fingerprint: string;
  /** Raised with every new secret. */
  readonly revision: number;
  readonly secret: SealedSecret;
  readonly createdAt: number;
}

export type CredentialStatus = 'unchecked' | 'ok' | 'failing';

/** What traffic and checks have shown of a credential. */
export interface CredentialState {
  readonly status: CredentialStatus;
  readonly reason: string | null;
  /** Epoch milliseconds. */
  readonly since: number;
  readonly lastUsedAt: number | null;
}

/** By the provider: which fields a secret has. */
export type SecretKind = 'api_key' | 'azure' | 'bedrock' | 'vertex';

/** A secret as it is sealed: only what is used of what was sent. */
export interface Secret {
  readonly api_key?: string;
  readonly resource?: string;
  readonly access_key_id?: string;
  readonly secret_access_key?: string;
  readonly session_token?: string;
  readonly service_account?: ServiceAccount;
  readonly project?: string;
}

export interface ServiceAccount {
  readonly client_email: string;
  readonly private_key: string;
  readonly private_key_id?: string;
}

/** No credentials, which is the one list of every account that has none. */
export const noCredentials: readonly OwnCredential[] = Object.freeze([]);

/** Those that serve a project. */
export function usableIn(projectId: string, credentials: readonly OwnCredential[]): readonly OwnCredential[] {
  return credentials.filter((each) => each.projectId === null || each.projectId === projectId);
}

/** Whether it may be used for a model. */
export function covers({ models }: Pick<OwnCredential, 'models'>, creator: string, model: string): boolean {
  return models === null || models.includes(`${creator}/${model}`) || models.includes(`${creator}/*`);
}

interface ServedRoute {
  readonly provider: { readonly id: string };
  readonly model: { readonly creator: string; readonly model: string };
}

/** Whether one of them may be used for a route. */
export function isServedBy(credentials: readonly OwnCredential[], { provider, model }: ServedRoute): boolean {
  return credentials.some((each) => each.provider === provider.id && covers(each, model.creator, model.model));
}

/** Whether two lists of models have one in common. */
export function overlap(one: readonly string[], other: readonly string[]): boolean {
  return one.some((entry) => {
    const [creator = '', model = ''] = entry.split('/');
    return other.some((each) => {
      const [otherCreator = '', otherModel = ''] = each.split('/');
      return creator === otherCreator && (model === '*' || otherModel === '*' || model === otherModel);
    });
  });
}

/** A secret cannot be opened: the operator's key is missing or another one, or the row was copied. Its owner may see the message. */
export class SecretUnavailable extends Error {
  override readonly name = 'SecretUnavailable';
}
