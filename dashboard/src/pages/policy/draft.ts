/** A policy while it is edited: ceilings are texts, so that what is half typed survives. */
import type { RoutingPolicy } from '../../api/types.js';

export interface Draft extends Omit<RoutingPolicy, 'max_carbon' | 'max_price'> {
  max_carbon: string;
  max_price: string;
}

export function draftOf(policy: RoutingPolicy): Draft {
  const { deny_cloud_act, providers, creators, regions, prefer } = policy;
  return {
    ...{ deny_cloud_act, providers, creators, regions, prefer },
    max_carbon: policy.max_carbon === null ? '' : String(policy.max_carbon),
    max_price: policy.max_price === null ? '' : String(policy.max_price),
  };
}

export function policyOf(draft: Draft): RoutingPolicy {
  return { ...draft, max_carbon: ceiling(draft.max_carbon), max_price: ceiling(draft.max_price) };
}

/** Empty or not a figure: no ceiling. The field itself says that it is not a figure. */
function ceiling(text: string): number | null {
  return isFigure(text) && text.trim() !== '' ? Number(text) : null;
}

export const isFigure = (text: string) => /^\s*(\d+(\.\d*)?|\.\d+)?\s*$/.test(text);
