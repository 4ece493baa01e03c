/**
 * Reads a `base_url` of the catalogue. Where part of the address belongs to the operator (a project, a resource, a machine) it names
 * an environment variable: `https://${AZURE_RESOURCE_NAME}.openai.azure.com`. Without the variable the provider is not configured.
 */
import { field, httpAddress } from '../base/yaml-fields.js';

/** `${NAME}`, or `${NAME:-default}`. */
const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([A-Za-z0-9._-]+))?\}/g;
const wholeReference = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
/** A value that cannot change which host or path the address means. */
const part = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Keeps the text without a trailing slash. */
export const addressTemplate = field(
  `an http:// or https:// address without query, fragment and credentials; \${NAME} in it is a variable of the environment`,
  (value) => {
    if (typeof value !== 'string') return undefined;
    if (wholeReference.test(value)) return value;
    const filled = value.replace(reference, 'x');
    return !filled.includes('${') && httpAddress.safeParse(filled).success ? value.replace(/\/+$/, '') : undefined;
  },
);

interface ResolvedAddress {
  /** Null where a variable is absent or unfit. */
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
    address = template.replace(reference, (_, name: string, fallback: string | undefined) => {
      const value = setting(name) || fallback;
      if (!value) absent.push(name);
      else if (!part.test(value)) unfit.push(name);
      return value ?? '';
    });
  }
  return { address: absent.length + unfit.length > 0 ? null : (address ?? null), absent, unfit };
}
