/** Packages that only some installations need: loaded when first used, and missed with a message that says what to do. */
import { CredentialFault } from './credentials.js';

export type LoadPackage = (name: string) => Promise<unknown>;

export const loadPackage: LoadPackage = (name) => import(/* @vite-ignore */ name);

export async function optionalPackage<Module>(name: string, load: LoadPackage): Promise<Module> {
  try {
    return (await load(name)) as Module;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new CredentialFault(`its credentials need the package ${name}, which is not installed on the service side`);
  }
}
