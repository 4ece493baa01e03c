/** The tools of the conversations as JSON schemas, which every client takes. */
import type { Json } from '../support/client.js';
import type { ToolCall } from './conversations.js';

export const toolSchemas: { name: ToolCall['name']; description: string; parameters: Json }[] = [
  {
    name: 'plan_trip',
    description: 'Plans a trip through a city, z. B. Köln',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Ort, z. B. Köln' },
        stops: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
        options: { type: 'object', additionalProperties: true },
      },
      required: ['city'],
    },
  },
  { name: 'get_time', description: 'What time it is', parameters: { type: 'object', properties: {} } },
];
