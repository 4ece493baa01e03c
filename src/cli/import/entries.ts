/** What the readers of a source share: the plan, the report, and what earlier entries have taken. */
import type { CatalogueBook } from './catalogue-book.js';
import type { Plan } from './plan.js';
import type { ImportReport } from './report.js';
import type { Fields } from './values.js';

/** What an entry of a model list is served by. */
export interface Deployment {
  readonly canonicalId: string;
  readonly provider: string;
  /** A pin. */
  readonly id: string;
}

export interface Group {
  /** Where each entry's name stands. */
  readonly fields: string[];
  readonly deployments: Deployment[];
  readonly defaults: Fields;
  readonly note: string;
}

/** What the sources say about names, of all sources together: LiteLLM too serves its file and its database as one list. */
export class Groups {
  readonly byName = new Map<string, Group>();
  readonly aliases = new Map<string, { field: string; target: string | null }>();
  /** Fallbacks of one name, or of every name without its own (`*`), by the section that they stand in. */
  readonly rules: { section: string; name: string; field: string; models: unknown[] }[] = [];
  /** Read when all other entries are known, because a name of its own wins over a wildcard. */
  readonly wildcards: Named[] = [];
}

export interface Named {
  readonly name: string;
  readonly entry: Fields;
  readonly path: string;
}

export interface ModelEntries {
  readonly plan: Plan;
  readonly book: CatalogueBook;
  readonly report: ImportReport;
  readonly today: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The provider for each address. */
  readonly claimed: Map<string, string>;
  /** What stands behind each pin that is in use, so that no entry changes the price or the model of another. */
  readonly placed: Map<string, string>;
  /** The models that each credential of a provider is named beside, by the provider and the credential's variable. */
  readonly covered: Map<string, Map<string, Set<string>>>;
  /** Credentials that entries name, by their names. */
  readonly credentials: Map<string, Fields>;
  readonly groups: Groups;
  /** Why a field cannot be a default of a name; null where it can. */
  readonly defaultFault: (name: string, value: unknown) => string | null;
  /** Names that the gateway has from elsewhere, which stay. */
  readonly takenNames: ReadonlySet<string>;
}
