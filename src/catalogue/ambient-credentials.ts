/**
 * Whether a cloud's own credential chain can plausibly yield something, told from the environment and from files that are
 * there, without a call to anybody: a provider whose chain has nothing to begin with is not configured.
 */
import { existsSync, readFileSync } from 'node:fs';

export type AmbientAuth = 'aws' | 'google';
export type Environment = Readonly<Record<string, string | undefined>>;

/** Asks the file system; replaced in tests. */
export interface FilesThere {
  exists(path: string): boolean;
  /** undefined where it cannot be read. */
  read(path: string): string | undefined;
}

const files: FilesThere = {
  exists: existsSync,
  read(path) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  },
};

export function hasAmbientCredentials(auth: AmbientAuth, env: Environment, there: FilesThere = files): boolean {
  return auth === 'aws' ? awsPlausible(env, there) : googlePlausible(env, there);
}

const awsVariables = [
  'AWS_PROFILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
];

/** A machine of the cloud may have a role or none. Where the region is set as well, it is meant to be used. */
function awsPlausible(env: Environment, there: FilesThere): boolean {
  if (env.AWS_ACCESS_KEY_ID && env.AWS_SECRET_ACCESS_KEY) return true;
  if (awsVariables.some((name) => env[name])) return true;
  const home = homeOf(env);
  const shared = [
    env.AWS_SHARED_CREDENTIALS_FILE ?? (home && `${home}/.aws/credentials`),
    env.AWS_CONFIG_FILE ?? (home && `${home}/.aws/config`),
  ];
  if (shared.some((path) => path && there.exists(path))) return true;
  const onMachine = env.AWS_EC2_METADATA_DISABLED?.toLowerCase() !== 'true' && isMachineOf('Amazon EC2', there);
  return Boolean(env.AWS_REGION || env.AWS_DEFAULT_REGION) && onMachine;
}

function googlePlausible(env: Environment, there: FilesThere): boolean {
  const named = env.GOOGLE_APPLICATION_CREDENTIALS;
  if (named) return there.exists(named);
  const home = homeOf(env);
  const folder = env.CLOUDSDK_CONFIG ?? (env.APPDATA ? `${env.APPDATA}/gcloud` : home && `${home}/.config/gcloud`);
  if (folder && there.exists(`${folder}/application_default_credentials.json`)) return true;
  if (env.GCE_METADATA_HOST || env.K_SERVICE || env.GAE_SERVICE) return true;
  return Boolean(env.GOOGLE_CLOUD_PROJECT || env.GCLOUD_PROJECT) && isMachineOf('Google', there);
}

function homeOf({ HOME, USERPROFILE }: Environment): string | undefined {
  return HOME || USERPROFILE || undefined;
}

function isMachineOf(vendor: string, there: FilesThere): boolean {
  return there.read('/sys/class/dmi/id/sys_vendor')?.trim().startsWith(vendor) ?? false;
}
