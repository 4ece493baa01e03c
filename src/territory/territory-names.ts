/** Territories in words that a reader knows: `Cuba (CU)`, `Crimea (UA-43)`. */
import type { Territory } from './territory.js';

export class TerritoryNames {
  private countries: Intl.DisplayNames | null = null;

  /** Subdivisions by code; countries are known to the runtime. */
  constructor(private readonly subdivisions: ReadonlyMap<string, string>) {}

  /** `code` is well-formed ISO 3166-1 or -2. A subdivision without a name of its own goes by its country's. */
  of(code: string): string {
    const name = this.subdivisions.get(code) ?? this.countryName(code.slice(0, 2));
    return name === undefined ? code : `${name} (${code})`;
  }

  /** The finest that is known of a territory. */
  ofTerritory({ country, subdivision }: Territory): string {
    const code = subdivision ?? country;
    return code === null ? 'an unknown territory' : this.of(code);
  }

  private countryName(country: string): string | undefined {
    this.countries ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
    return this.countries.of(country);
  }
}
