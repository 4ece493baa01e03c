/**
 * AWS's credentials as its users expect to find them: in the environment at once, else by the SDK's own chain (shared files
 * with a profile, SSO, a process, a web identity, a container's or an instance's role).
 */
import type { Clock } from '../../base/time.js';
import { type LoadPackage, optionalPackage } from './optional-package.js';
import { Renewed } from './renewed.js';

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
  private readonly chain: Renewed<AwsKeys>;

  constructor(
    private readonly env: Environment,
    clock: Clock,
    load: LoadPackage,
  ) {
    this.chain = new Renewed({
      clock,
      explain: explainAws,
      async obtain() {
        const { defaultProvider } = await optionalPackage<ProviderChain>(chainPackage, load);
        // A chain of its own each time, because it would keep what has no end for ever.
        const { accessKeyId, secretAccessKey, sessionToken, expiration } = await defaultProvider({
          ignoreCache: true,
        })();
        const value = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
        return { value, expiresAtMs: expiration?.getTime() ?? null };
      },
    });
  }

  get(): AwsKeys | Promise<AwsKeys> {
    return environmentKeys(this.env) ?? this.chain.get();
  }
}

/** As with the SDK, a profile that is named wins over keys. */
function environmentKeys(env: Environment): AwsKeys | null {
  const { AWS_PROFILE, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = env;
  if (AWS_PROFILE || !AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) return null;
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
  };
}

/** The SDK's own words name profiles, files and commands. */
function explainAws(error: unknown): string {
  const words = String((error as Error)?.message);
  if (/sso|token/i.test(words) && /expired|refresh|login/i.test(words)) return 'its AWS session has expired';
  if (/could not be found|not found in shared|profile/i.test(words)) return 'its AWS profile has no usable credentials';
  return 'no AWS credentials could be obtained';
}
