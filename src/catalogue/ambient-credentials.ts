/**
 * Decides whether a cloud's credential chain can plausibly find credentials, from the environment and from existing files, without
 * a network call. A provider whose chain has nothing to start from is not configured.
 */
import { existsSync, readFileSync } from 'node:fs';

export type AmbientAuth = 'aws' | 'google';
export type Environment = Readonly<Record<string, string | undefined>>;

/** Access to the file system; replaced in tests. */
interface FileAccess {
  exists(path: string): boolean;
  /** Undefined where the file cannot be read. */
  read(path: string): string | undefined;
}

const fileSystem: FileAccess = {
  exists: existsSync,
  read(path) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  },
};

export function hasAmbientCredentials(auth: AmbientAuth, env: Environment, files: FileAccess = fileSystem): boolean {
  return auth === 'aws' ? awsPlausible(env, files) : googlePlausible(env, files);
}

const awsVariables = [
  'AWS_PROFILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
];

/** A virtual machine of the cloud may or may not have a role. It counts only where a region is set too. */
function awsPlausible(env: Environment, files: FileAccess): boolean {
  if (env.AWS_ACCESS_KEY_ID && env.AWS_SECRET_ACCESS_KEY) return true;
  if (awsVariables.some((name) => env[name])) return true;
  const home = homeOf(env);
  const shared = [
    env.AWS_SHARED_CREDENTIALS_FILE ?? (home && `${home}/.aws/credentials`),
    env.AWS_CONFIG_FILE ?? (home && `${home}/.aws/config`),
  ];
  if (shared.some((path) => path && files.exists(path))) return true;
  const onMachine = env.AWS_EC2_METADATA_DISABLED?.toLowerCase() !== 'true' && isMachineOf('Amazon EC2', files);
  return Boolean(env.AWS_REGION || env.AWS_DEFAULT_REGION) && onMachine;
}

function googlePlausible(env: Environment, files: FileAccess): boolean {
  const named = env.GOOGLE_APPLICATION_CREDENTIALS;
  if (named) return files.exists(named);
  const home = homeOf(env);
  const folder = env.CLOUDSDK_CONFIG ?? (env.APPDATA ? `${env.APPDATA}/gcloud` : home && `${home}/.config/gcloud`);
  if (folder && files.exists(`${folder}/application_default_credentials.json`)) return true;
  if (env.GCE_METADATA_HOST || env.K_SERVICE || env.GAE_SERVICE) return true;
  return Boolean(env.GOOGLE_CLOUD_PROJECT || env.GCLOUD_PROJECT) && isMachineOf('Google', files);
}

function homeOf({ HOME, USERPROFILE }: Environment): string | undefined {
  return HOME || USERPROFILE || undefined;
}

function isMachineOf(vendor: string, files: FileAccess): boolean {
  return files.read('/sys/class/dmi/id/sys_vendor')?.trim().startsWith(vendor) ?? false;
}
