/** Which column of a provider's usage export says what: presets for known exports, or a mapping from the command line. */
import { priceClasses } from '../../catalogue/price.js';
import { UsageError } from '../io.js';

/** The lines of a bill that an export can have counts for. */
const countFields = priceClasses.map(([, name]) => (name === 'request' ? 'requests' : name));

/** By field: the name of the column. `input` may be a total from which the columns of `less` are taken. */
export interface Columns {
  readonly day: string;
  readonly model: string;
  /** USD of the row. */
  readonly cost?: string;
  /** An export with a row for each class names it here, and its count in `count`. */
  readonly class?: string;
  readonly count?: string;
  readonly counts: Readonly<Record<string, string>>;
  /** Columns that a count includes and that have counts of their own, by field. */
  readonly less?: Readonly<Record<string, readonly string[]>>;
}

export const presets: Readonly<Record<string, Columns>> = {
  /** The completions export of the usage page; `input_tokens` includes what was cached, and audio. */
  openai: {
    day: 'start_time_iso',
    model: 'model',
    counts: {
      ...{ input: 'input_tokens', output: 'output_tokens', cached_input: 'input_cached_tokens' },
      ...{ cache_write: 'input_cache_write_tokens', requests: 'num_model_requests' },
      ...{ input_audio: 'input_audio_tokens', output_audio: 'output_audio_tokens' },
    },
    less: {
      input: ['input_cached_tokens', 'input_cache_write_tokens', 'input_audio_tokens'],
      output: ['output_audio_tokens'],
    },
  },
  /** The usage export of the console. */
  anthropic: {
    day: 'usage_date_utc',
    model: 'model_version',
    counts: {
      ...{ input: 'usage_input_tokens_no_cache', output: 'usage_output_tokens' },
      ...{ cached_input: 'usage_input_tokens_cache_read', cache_write: 'usage_input_tokens_cache_write_5m' },
      ...{ cache_write_1h: 'usage_input_tokens_cache_write_1h', 'tools.web_search': 'web_search_count' },
    },
  },
};

/** Columns that a preset needs; it does without the others where an export does not have them. */
const needed = (columns: Columns): string[] =>
  [columns.day, columns.model, columns.counts.input, columns.counts.output].filter((name) => name !== undefined);

/** The preset whose columns the export has. */
export function detectPreset(header: readonly string[]): Columns | undefined {
  return Object.values(presets).find((columns) => needed(columns).every((name) => header.includes(name)));
}

/** Reads `day=Date,model=Model,input=Input tokens`. */
export function readColumns(text: string): Columns {
  const named = new Map<string, string>();
  for (const part of text.split(',')) {
    const at = part.indexOf('=');
    const field = part.slice(0, Math.max(at, 0)).trim();
    const column = part.slice(at + 1).trim();
    if (at < 1 || column === '') throw new UsageError(`--columns: "${part}" is not FIELD=COLUMN`);
    if (!isField(field)) throw new UsageError(`--columns: there is no field "${field}"; ${fieldsText}`);
    if (named.has(field)) throw new UsageError(`--columns: "${field}" is there twice`);
    named.set(field, column);
  }
  const one = (field: string): string => {
    const column = named.get(field);
    if (column === undefined) throw new UsageError(`--columns: "${field}" is missing; ${fieldsText}`);
    return column;
  };
  const [cost, ofClass, count] = [named.get('cost'), named.get('class'), named.get('count')];
  if ((ofClass === undefined) !== (count === undefined))
    throw new UsageError('--columns: "class" and "count" belong together');
  const columns = { day: one('day'), model: one('model') };
  const counts = Object.fromEntries([...named].filter(([field]) => isCountField(field)));
  if (cost === undefined && ofClass === undefined && Object.keys(counts).length === 0)
    throw new UsageError(`--columns: nothing to compare; ${fieldsText}`);
  return {
    ...columns,
    ...(cost !== undefined && { cost }),
    ...(ofClass !== undefined && { class: ofClass }),
    ...(count !== undefined && { count }),
    counts,
  };
}

const fieldsText = `fields are day, model, cost, class, count, ${countFields.join(', ')} and tools.<name>`;

const isCountField = (field: string): boolean => countFields.some((name) => name === field) || /^tools\..+/.test(field);
const isField = (field: string): boolean =>
  ['day', 'model', 'cost', 'class', 'count'].includes(field) || isCountField(field);
