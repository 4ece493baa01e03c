/** The life of a model or a route: when it was released and deprecated, and when it retires. */
import { field, fields, text } from '../base/yaml-fields.js';
import { day, dayMsOf } from './dates.js';

export interface Retirement {
  /** The first day, UTC, on which it is not served any more. */
  readonly date: string;
  /** The first moment of that day, in epoch milliseconds. */
  readonly atMs: number;
  readonly source: string;
  /** The canonical id of the model to change to; null where the provider names none that the catalogue has. */
  readonly replacedBy: string | null;
}

export interface Life {
  readonly released?: string;
  readonly deprecated?: string;
  readonly retires?: Retirement;
}

const successor = field('one model as creator/model: where there are several, name the one to change to', (value) =>
  typeof value === 'string' && /^[a-z0-9][a-z0-9._:@+-]{0,127}\/[a-z0-9][a-z0-9._:@+-]{0,127}$/i.test(value)
    ? value
    : undefined,
);

const retirement = fields({ date: day, source: text, replaced_by: successor.nullish() });

/** The fields of a model or a route. On a route null says that the model's does not hold there. */
export const lifeFields = {
  released: day.nullish(),
  deprecated: day.nullish(),
  retires: retirement.nullish(),
};

export interface StatedLife {
  readonly released?: string | null | undefined;
  readonly deprecated?: string | null | undefined;
  readonly retires?:
    | { readonly date: string; readonly source: string; readonly replaced_by?: string | null | undefined }
    | null
    | undefined;
}

/** What a route states wins over its model, field by field. Absent where nothing is known. */
export function lifeMember(own: StatedLife, model: StatedLife = {}): { readonly life?: Life } {
  const stated = <Name extends keyof StatedLife>(name: Name) => (own[name] === undefined ? model[name] : own[name]);
  const [released, deprecated, retires] = [stated('released'), stated('deprecated'), stated('retires')];
  if (!released && !deprecated && !retires) return {};
  return {
    life: {
      ...(released && { released }),
      ...(deprecated && { deprecated }),
      ...(retires && {
        retires: {
          date: retires.date,
          atMs: dayMsOf(retires.date)!,
          source: retires.source,
          replacedBy: retires.replaced_by ?? null,
        },
      }),
    },
  };
}
