/**
 * A `base_url` of the catalogue. Where an address is an operator's own (a project, a resource, a machine) it names a variable:
 * `https://${AZURE_RESOURCE_NAME}.openai.azure.com`. An absent one means "not configured", as in contract 2.
 */
import { field, httpAddress } from '../base/yaml-fields.js';

/** `${NAME}`, or `${NAME:-otherwise}` where there is something to fall back to. */
const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([A-Za-z0-9._-]+))?\}/g;
const wholeReference = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
/** What may stand in the middle of an address and cannot change which host or path is meant. */
const part = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Kept as it is written, without a trailing slash. */
export const addressTemplate = field(
  `an http:// or https:// address without query, fragment and credentials; \${NAME} in it is a variable of the environment`,
  (value) => {
    if (typeof value !== 'string') return undefined;
    if (wholeReference.test(value)) return value;
    const filled = value.replace(reference, 'x');
    return !filled.includes('${') && httpAddress.safeParse(filled).success ? value.replace(/\/+$/, '') : undefined;
  },
);

export interface ResolvedAddress {
  /** null where a variable is absent or unfit. */
  readonly address: string | null;
  /** Variables that the environment does not have. */
  readonly absent: readonly string[];
  /** Variables whose value does not fit into an address. */
  readonly unfit: readonly string[];
}

export function resolveAddress(template: string, env: Readonly<Record<string, string | undefined>>): ResolvedAddress {
  const absent: string[] = [];
  const unfit: string[] = [];
  const setting = (name: string) => (Object.hasOwn(env, name) ? env[name]?.trim() : undefined);
  const whole = wholeReference.exec(template)?.[1];
  let address: string | undefined;
  if (whole !== undefined) {
    const value = setting(whole);
    if (value) address = httpAddress.safeParse(value).data;
    if (address === undefined) (value ? unfit : absent).push(whole);
  } else {
    address = template.replace(reference, (_, name: string, otherwise: string | undefined) => {
      const value = setting(name) || otherwise;
      if (!value) absent.push(name);
      else if (!part.test(value)) unfit.push(name);
      return value ?? '';
    });
  }
  return { address: absent.length + unfit.length > 0 ? null : (address ?? null), absent, unfit };
}
