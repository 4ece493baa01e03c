/** Loads packages that only some installations need, when they are first used. A missing one is named in the error. */
import { CredentialFault } from './credentials.js';

export type LoadPackage = (name: string) => Promise<unknown>;

export const loadPackage: LoadPackage = (name) => import(/* @vite-ignore */ name);

export async function loadOptional<Module>(name: string, load: LoadPackage): Promise<Module> {
  try {
    return (await load(name)) as Module;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new CredentialFault(`its credentials need the package ${name}, which is not installed on the service side`);
  }
}
