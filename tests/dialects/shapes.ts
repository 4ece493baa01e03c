/** An answer shape of one provider, as its upstream sends it and as the client must get it. */
import type { Json } from '../support/client.js';
import type { Got } from './answers.js';

export interface Shape {
  title: string;
  /** Absent where the provider has the shape in streams only. */
  whole?: Json;
  /** Absent where the provider has the shape in whole answers only. */
  events?: (Json | [type: string, payload: Json])[];
  answer: Partial<Got>;
  usage?: Json;
  /** In USD, at the route's price a million tokens: input 0.6, cached 0.3, output 0.8. */
  cost?: number;
}

export const call = (id: string, name: string, args: unknown) => ({ id, name, arguments: JSON.stringify(args) });
