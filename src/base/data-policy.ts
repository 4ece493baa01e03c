/** What a provider does with the data of requests: the fields of a data policy, and how those of several sources are merged. */
import { fields, integerFrom, listOf, oneOf, text, yesOrNo } from './yaml-fields.js';

export const certificationNames = [
  ...['iso27001', 'iso27017', 'iso27018', 'iso27701', 'iso42001', 'soc1', 'soc2', 'soc3', 'hipaa', 'pci_dss', 'c5'],
  ...['hds', 'secnumcloud', 'ens', 'tisax', 'fedramp', 'csa_star', 'cyber_essentials_plus'],
] as const;
export type Certification = (typeof certificationNames)[number];

/** The precision of the weights that a route serves. */
export const quantizationNames = ['int4', 'int8', 'fp4', 'fp6', 'fp8', 'mxfp4', 'fp16', 'bf16', 'fp32'] as const;
export type Quantization = (typeof quantizationNames)[number];

/** Whether zero retention can be had: without asking, by a setting or request, by an agreement, or not at all. */
export const zeroRetentionKinds = ['default', 'on_request', 'contract', 'no'] as const;

/** An absent field is not known. */
export interface DataPolicy {
  /** Paid API requests are used for training where no setting is changed. */
  readonly trains?: boolean;
  /** How long prompts or answers are kept by default; 0 = nothing is kept. */
  readonly retention_days?: number;
  readonly zdr?: (typeof zeroRetentionKinds)[number];
  /** The provider promises that processing stays in the region of the route. */
  readonly in_region?: boolean;
  /** Headquarters and ultimate parent are in the EU. */
  readonly eu_owned?: boolean;
  readonly certifications?: readonly Certification[];
  readonly source?: string;
  readonly as_of?: string;
}

/** `agreement` as soon as one field comes from an agreement of the operator, `own_agreement` from one of the customer. */
export type DataPolicyInForce = DataPolicy & { readonly basis: 'published' | 'agreement' | 'own_agreement' };

const shape = {
  trains: yesOrNo.nullish(),
  retention_days: integerFrom(0).nullish(),
  zdr: oneOf(zeroRetentionKinds).nullish(),
  in_region: yesOrNo.nullish(),
  eu_owned: yesOrNo.nullish(),
  certifications: listOf(oneOf(certificationNames), `certifications (${certificationNames.join(', ')})`).nullish(),
  source: text.nullish(),
  as_of: text.nullish(),
};
const fieldNames = Object.keys(shape) as (keyof DataPolicy)[];
/** Where the facts are from; on their own they state nothing. */
const provenance: readonly string[] = ['source', 'as_of'];

export const dataPolicy = fields(shape);

/** `reference` is for the operator's own records, and never shown to accounts. */
export const agreement = fields({ ...shape, reference: text.nullish() });

/** As an entry states it: null says that a fact is not known, also where the provider states one. */
export type StatedPolicy = { readonly [Field in keyof DataPolicy]?: DataPolicy[Field] | null };

export interface PolicyStatements {
  readonly provider: StatedPolicy | null | undefined;
  /** null = nothing is known about this route, whatever its provider states. */
  readonly route: StatedPolicy | null | undefined;
  readonly agreement: StatedPolicy | null | undefined;
}

/** The policy of a route: fields of the agreement win over those of the route, and these over the provider's. null = nothing is known. */
export function mergeDataPolicy({ provider, route, agreement }: PolicyStatements): DataPolicyInForce | null {
  const merged: Record<string, unknown> = {};
  let basis: DataPolicyInForce['basis'] = 'published';
  for (const name of fieldNames) {
    const agreed = agreement?.[name] ?? null;
    const published = route === null ? null : route?.[name] === undefined ? provider?.[name] : route[name];
    if (agreed !== null) basis = 'agreement';
    const value = agreed ?? published ?? null;
    if (value !== null) merged[name] = value;
  }
  const isKnown = Object.keys(merged).some((name) => !provenance.includes(name));
  return isKnown ? Object.freeze({ ...merged, basis } as DataPolicyInForce) : null;
}

/** What is published of a route, with the agreement of a customer who calls it with a credential of their own. */
export function withOwnAgreement(
  published: DataPolicyInForce | null | undefined,
  agreement: StatedPolicy | null,
  isGlobal: boolean,
): DataPolicyInForce | null {
  if (agreement === null) return published ?? null;
  const { basis: _, ...provider } = published ?? { basis: 'published' };
  const merged = mergeDataPolicy({
    provider,
    route: undefined,
    agreement: isGlobal ? { ...agreement, in_region: undefined } : agreement,
  });
  return merged?.basis === 'agreement' ? Object.freeze({ ...merged, basis: 'own_agreement' }) : merged;
}
