/** A policy while it is edited. Ceilings are texts, so that a half-typed figure survives. */
import type { AllowDeny, Gate, Preference, RoutingPolicy } from '../../api/types.js';

export type DraftSetting = boolean | string | readonly string[] | AllowDeny;

export interface Draft {
  prefer: Preference | null;
  /** By the gate's name. */
  settings: Record<string, DraftSetting>;
}

export function draftOf(policy: RoutingPolicy, gates: readonly Gate[]): Draft {
  const settings = gates.map(({ name, control }) => {
    const setting = policy[name];
    const isCeiling = control.kind === 'ceiling';
    return [name, isCeiling ? (setting === null ? '' : String(setting)) : (setting as DraftSetting)] as const;
  });
  return { prefer: policy.prefer, settings: Object.fromEntries(settings) };
}

export function policyOf({ prefer, settings }: Draft): RoutingPolicy {
  const fields = Object.entries(settings).map(([name, setting]) => [
    name,
    typeof setting === 'string' ? ceilingOf(setting) : setting,
  ]);
  return { ...Object.fromEntries(fields), prefer };
}

/** null, no ceiling, where the text is empty or not a figure. The field itself reports a text that is not a figure. */
function ceilingOf(text: string): number | null {
  return isFigure(text) && text.trim() !== '' ? Number(text) : null;
}

export const isFigure = (text: string) => /^\s*(\d+(\.\d*)?|\.\d+)?\s*$/.test(text);
