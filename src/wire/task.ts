/**
 * What a request asks for that is no chat: vectors of texts, or an order of documents. Texts stay JSON text in the encoding of the
 * request, so that they go to a provider without being written again.
 */

export interface EmbeddingTask {
  readonly kind: 'embedding';
  /** Each input as JSON text: a string, or a list of tokens. */
  readonly inputs: readonly string[];
  /** The client sent the only input itself, and no list of inputs. */
  readonly isSingle?: boolean;
  /** The inputs are lists of tokens. */
  readonly isTokens: boolean;
  /** How many tokens all inputs have, where they are lists of tokens. */
  readonly tokens?: number;
  /** The length of the vectors; absent = the model's own. */
  readonly dimensions?: number;
  /** How the client wants to read vectors. */
  readonly format: 'float' | 'base64';
  /** The client named the format. */
  readonly isFormatSent?: boolean;
  /** As JSON text; absent where the client sent none. */
  readonly user?: string;
  /** The client wants a refusal where something would be left out. */
  strict?: boolean;
}

export interface RerankTask {
  readonly kind: 'rerank';
  /** As JSON text. */
  readonly query: string;
  /** Each document as JSON text, a string. */
  readonly documents: readonly string[];
  /** How many results the client wants; absent = all. */
  readonly topN?: number;
  readonly returnDocuments: boolean;
}

export type Task = EmbeddingTask | RerankTask;

export interface Relevance {
  /** The place of the document in the request. */
  readonly index: number;
  readonly score: number;
}

/** The answer to a task, from all calls that were made for it. */
export interface TaskAnswer {
  /** JSON text of a vector for each input, in their order; empty for a rerank task. */
  readonly vectors: readonly string[];
  /** The most relevant document first; empty for an embedding task. */
  readonly relevances: readonly Relevance[];
  /** As the provider counted them; null where it did not. */
  readonly tokens: number | null;
  /** How often the price of a request is due: providers count a search with many documents several times. */
  readonly requests: number;
}

/** How many results of a rerank are asked for. Some providers refuse more than there are documents. */
export function resultsWanted({ documents, topN }: RerankTask): number {
  return Math.min(topN ?? documents.length, documents.length);
}
