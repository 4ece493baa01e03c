/**
 * Finds AWS credentials where AWS users expect them: in the environment, else through the SDK's own chain (profiles in the shared
 * files, SSO, a credential process, a web identity, the role of a container or an instance).
 */

import type { Clock } from '../../base/time.js';
import type { MaybePromise } from '../../base/turn.js';
import { type LoadPackage, loadOptional } from './optional-package.js';
import { RenewableValue } from './renewable.js';

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The part of `@aws-sdk/credential-provider-node` that is used. */
interface ProviderChain {
  defaultProvider(options: { ignoreCache: boolean }): () => Promise<AwsKeys & { expiration?: Date }>;
}

const chainPackage = '@aws-sdk/credential-provider-node';

export class AwsKeySource {
  private readonly chain: RenewableValue<AwsKeys>;

  constructor(
    private readonly env: Environment,
    clock: Clock,
    load: LoadPackage,
  ) {
    this.chain = new RenewableValue({
      clock,
      explain: explainAws,
      async obtain() {
        const { defaultProvider } = await loadOptional<ProviderChain>(chainPackage, load);
        // A new chain each time: a chain caches credentials without an expiry for ever.
        const { accessKeyId, secretAccessKey, sessionToken, expiration } = await defaultProvider({
          ignoreCache: true,
        })();
        const value = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
        return { value, expiresAtMs: expiration?.getTime() ?? null };
      },
    });
  }

  get(): MaybePromise<AwsKeys> {
    return environmentKeys(this.env) ?? this.chain.get();
  }
}

/** As in the SDK, a named profile wins over keys in the environment. */
function environmentKeys(env: Environment): AwsKeys | null {
  const { AWS_PROFILE, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = env;
  if (AWS_PROFILE || !AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) return null;
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
  };
}

/** The SDK's own messages name profiles, files and commands, which clients must not see. */
function explainAws(error: unknown): string {
  const words = String((error as Error)?.message);
  if (/sso|token/i.test(words) && /expired|refresh|login/i.test(words)) return 'its AWS session has expired';
  if (/could not be found|not found in shared|profile/i.test(words)) return 'its AWS profile has no usable credentials';
  return 'no AWS credentials could be obtained';
}
