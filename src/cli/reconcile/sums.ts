/** Counts and costs by day, model and class. */
import type { PicoUsd } from '../../base/money.js';

export interface Place {
  readonly day: string;
  readonly model: string;
  /** The name of the bill's line, or `cost`. */
  readonly name: string;
}

export interface Figures {
  readonly count: number;
  /** null where it is not known. */
  readonly cost: PicoUsd | null;
}

export class Sums {
  private readonly byKey = new Map<string, { place: Place; figures: Figures }>();

  add(place: Place, { count, cost }: Figures): void {
    const named = { ...place, model: plainModel(place.model) };
    const key = JSON.stringify([named.day, named.model, named.name]);
    const before = this.byKey.get(key)?.figures;
    const sum = before && {
      count: before.count + count,
      cost: cost === null ? before.cost : (before.cost ?? 0n) + cost,
    };
    this.byKey.set(key, { place: named, figures: sum ?? { count, cost } });
  }

  get({ day, model, name }: Place): Figures | undefined {
    return this.byKey.get(JSON.stringify([day, plainModel(model), name]))?.figures;
  }

  get places(): Place[] {
    return [...this.byKey.values()].map(({ place }) => place);
  }
}

/** Providers bill `model-2026-08-01` or `model-20260801` where a request said `model`. Both are counted together. */
function plainModel(model: string): string {
  return model.replace(/-\d{4}-?\d\d-?\d\d$/, '');
}
