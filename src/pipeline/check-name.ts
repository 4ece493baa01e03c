/** Checks what a name of the operator stands for, before it is stored and when its file is read. */
import { checkChain, kindRefusal, type ModelStateReader } from '../accounts/fallback/check-chain.js';
import { findModel, findRoute } from '../catalogue/lookup.js';
import { idExcerpt, parseModelId } from '../catalogue/model-id.js';
import type { ModelName } from '../catalogue/model-name.js';
import type { Model, Snapshot } from '../catalogue/route.js';
import { noCredentials } from '../domain/credential.js';
import { checkDefaults } from '../doors/name-defaults.js';
import { GatewayError } from '../errors/gateway-error.js';
import { readPreferences } from '../policy/request-preferences.js';

export interface NameFault {
  /** In the definition: `model`, `defaults.temperature`. */
  readonly path: readonly string[];
  /** A sentence. */
  readonly reason: string;
  /** The catalogue does not have what the field names. Another one may. */
  readonly isUnknown: boolean;
}

/** With `modelStates` the entries of the chain must be served, as in a request; without them the catalogue must have them. */
export function nameFaults(name: ModelName, snapshot: Snapshot, modelStates?: ModelStateReader): NameFault[] {
  const faults: NameFault[] = [];
  const attempt = (path: readonly string[], isUnknown: boolean, check: () => void) => {
    try {
      check();
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      faults.push({
        path: path.length > 1 ? path : [...path, ...innerPath(path[0]!, error)],
        reason: error.message,
        isUnknown,
      });
    }
  };
  const target = checkId(name.target, ['model'], snapshot, faults);
  const chainPath = ['fallback', 'models'];
  for (const entry of name.fallback ?? []) {
    const before = faults.length;
    const model = checkId(entry, chainPath, snapshot, faults);
    if (faults.length > before) continue;
    const reason = chainRefusal(target, model);
    if (reason !== null)
      faults.push({ path: chainPath, reason: `"${idExcerpt(entry)}" cannot be used: ${reason}`, isUnknown: false });
    else if (modelStates) attempt(chainPath, false, () => checkChain([entry], noAccount, snapshot, modelStates));
  }
  // A request reads the wishes of a name without OpenRouter's fields, which only clients have.
  attempt(['provider'], true, () => void readPreferences(name.provider, { providers: snapshot.providers }));
  if (name.defaults !== null) attempt(['defaults'], false, () => checkDefaults(name.defaults!));
  return faults;
}

/** Chains of names hold no aliases, so that nothing of an account is looked at. */
const noAccount: Parameters<typeof checkChain>[1] = { aliases: new Map(), credentials: noCredentials };

/** Answers of two models that do not write cannot be compared. */
function chainRefusal(target: Model | null, entry: Model | null): string | null {
  const isChat = (target?.kind ?? 'chat') === 'chat';
  if (isChat) return kindRefusal(entry ?? undefined);
  return entry === target ? null : 'it is another model. Name a route of the same one.';
}

function checkId(id: string, path: readonly string[], snapshot: Snapshot, faults: NameFault[]): Model | null {
  const parsed = parseModelId(id);
  const shown = `"${idExcerpt(id)}"`;
  if (parsed.kind === 'alias') {
    faults.push({
      path,
      reason: `${shown} is an alias, which belongs to an account. Name what it stands for.`,
      isUnknown: false,
    });
    return null;
  }
  if (parsed.kind === 'invalid') {
    const reason = `${shown} ${parsed.reason}. Use {provider}/{creator}/{model}[/{locode}] or auto/{creator}/{model}.`;
    faults.push({ path, reason, isUnknown: false });
    return null;
  }
  try {
    return parsed.kind === 'auto'
      ? findModel(snapshot, parsed.creator, parsed.model)
      : findRoute(snapshot, parsed).model;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    faults.push({ path, reason: error.message, isUnknown: true });
    return null;
  }
}

/** The field that an error names, under the one that was checked. */
function innerPath(field: string, { param }: GatewayError): string[] {
  if (param === undefined || param === field) return [];
  return (param.startsWith(`${field}.`) ? param.slice(field.length + 1) : param).split('.');
}
