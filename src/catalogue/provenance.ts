/** Where the figures of a catalogue entry are from, and of when. */

export interface Provenance {
  readonly source: string | null;
  readonly asOf: string | null;
}

/** The fields of an entry that say it. */
export interface StatedProvenance {
  readonly source?: string | null | undefined;
  readonly as_of?: string | null | undefined;
}

export const noProvenance: Provenance = { source: null, asOf: null };

/** Absent where the entry names neither. */
export function provenanceMember({ source, as_of }: StatedProvenance): { readonly provenance?: Provenance } {
  if (!source && !as_of) return {};
  return { provenance: { source: source ?? null, asOf: as_of ?? null } };
}
