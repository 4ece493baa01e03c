/** What keeps a route from a request that is no chat: embeddings, and documents to be put in order. */
import type { Route } from '../../catalogue/route.js';
import { dialectOf } from '../../providers/dialects/registry.js';
import { omittedOfTask } from '../../providers/native-pass.js';
import { targetOf } from '../../providers/translation.js';
import type { Task } from '../../wire/task.js';

interface TaskObstacle {
  readonly verdict: 'cannot_apply';
  readonly param: string;
  readonly reason: string;
}

/** Why a route cannot serve a request that is no chat, by its dialect and its model. */
export function taskObstacle(route: Route, task: Task): TaskObstacle | null {
  const { embedding, rerank } = dialectOf(route.provider.dialect);
  if (task.kind === 'rerank') return rerank ? null : cannot('model', 'has no API that puts documents in order');
  if (!embedding) return cannot('model', 'has no API for embeddings');
  const { dimensions, fixedDimensions } = route.model;
  const { dimensions: asked } = task;
  if (fixedDimensions && asked !== undefined && asked !== dimensions) {
    return cannot('dimensions', `has vectors of ${dimensions ?? 'one'} dimensions only`);
  }
  const found = embedding.obstacleOf(sentTask(route, task), targetOf(route));
  if (found) return cannot(found.param, found.reason);
  const [omitted] = task.strict ? omittedOfTask(route, task) : [];
  return omitted === undefined ? null : cannot(omitted, `has no field for \`${omitted}\``);
}

/** The task as it is sent to a route. A length that the vectors have anyway is not asked for: not every provider knows the field. */
export function sentTask<T extends Task>({ model }: Route, task: T): T {
  if (task.kind !== 'embedding' || !model.fixedDimensions || task.dimensions !== model.dimensions) return task;
  const { dimensions: _, ...rest } = task;
  return rest as T;
}

function cannot(param: string, reason: string): TaskObstacle {
  return { verdict: 'cannot_apply', param, reason };
}
